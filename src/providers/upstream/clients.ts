/** Describes the client behind a request, and says which of its capabilities an upstream gets to know. */

import type { Data } from '../../connection/data.ts';
import type { Context } from '../../core/context.ts';
import { isData } from '../../protocol/data.ts';
import { TASKS_EXTENSION, takesTasks } from '../../protocol/tasks.ts';

/** Whether the client's connection outlasts this request. */
export const lasts = (ctx: Context): boolean => ctx.peer !== ctx.principal.id;

/** Whether the client is of 2025: it can be asked while its request runs. */
export const isOf2025 = ({ client }: Pick<Context, 'client'>): boolean => client?.ask !== undefined;

/** Whether the client can be asked questions. */
export const askable = ({ client }: Context): boolean =>
  client !== undefined && (client.sampling || client.elicitation || client.roots);

/** Returns the declared capabilities of a client that Vitrine can pass on. */
export function capabilitiesOf({ client }: Pick<Context, 'client'>): Data {
  const { sampling, elicitation, roots, extensions, experimental } = client?.declared ?? {};
  return {
    ...(sampling !== undefined && { sampling }),
    ...(elicitation !== undefined && { elicitation }),
    // Changes of its roots are not passed on.
    ...(roots !== undefined && { roots: {} }),
    ...(extensions !== undefined && { extensions: isOf2025({ client }) ? withoutTasks(extensions) : extensions }),
    ...(experimental !== undefined && { experimental }),
  };
}

/** Removes the extension for tasks, which a client of 2025 cannot mean: it has other tasks (SEP-2663). */
function withoutTasks(extensions: unknown): unknown {
  if (!isData(extensions)) return extensions;
  const { [TASKS_EXTENSION]: _tasks, ...others } = extensions;
  return others;
}

/** Whether the client accepts a task instead of a result, as clients of 2026-07-28 declare on each request. */
export const declaresTasks = ({ client }: Pick<Context, 'client'>): boolean =>
  !isOf2025({ client }) && takesTasks(client?.declared);
