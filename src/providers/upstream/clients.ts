/** Tells what is known of the client behind a request, and what of it an upstream is told. */

import type { Data } from '../../connection/data.ts';
import type { Context } from '../../core/context.ts';
import { isData } from '../../protocol/data.ts';
import { TASKS_EXTENSION, takesTasks } from '../../protocol/tasks.ts';

/** Whether the client is connected here for longer than this request. */
export const lasts = (ctx: Context): boolean => ctx.peer !== ctx.principal.id;

/** Whether the client is of 2025: it is asked while its request is running. */
export const isOf2025 = ({ client }: Pick<Context, 'client'>): boolean => client?.ask !== undefined;

/** Whether the client can be asked something. */
export const askable = ({ client }: Context): boolean =>
  client !== undefined && (client.sampling || client.elicitation || client.roots);

/** Returns the capabilities that a client declared, as far as Vitrine can keep them for it. */
export function capabilitiesOf({ client }: Pick<Context, 'client'>): Data {
  const { sampling, elicitation, roots, extensions, experimental } = client?.declared ?? {};
  return {
    ...(sampling !== undefined && { sampling }),
    ...(elicitation !== undefined && { elicitation }),
    // Changes of its roots are not told on.
    ...(roots !== undefined && { roots: {} }),
    ...(extensions !== undefined && { extensions: isOf2025({ client }) ? withoutTasks(extensions) : extensions }),
    ...(experimental !== undefined && { experimental }),
  };
}

/** The extension for tasks means nothing of a client of 2025, whose own tasks are others (SEP-2663). */
function withoutTasks(extensions: unknown): unknown {
  if (!isData(extensions)) return extensions;
  const { [TASKS_EXTENSION]: _tasks, ...others } = extensions;
  return others;
}

/** Whether the client takes a task in place of a result, as clients of 2026-07-28 say on each request. */
export const declaresTasks = ({ client }: Pick<Context, 'client'>): boolean =>
  !isOf2025({ client }) && takesTasks(client?.declared);
