/** Lists the definitions of tools and prompts with all their fields, up to a limit. */
import { distance } from 'fastest-levenshtein';
import { clientError, invalidAnswer } from '../../client/errors.ts';
import type { Data } from '../../client/link.ts';
import { pagesIn } from '../../connection/paging.ts';
import { anyResult } from '../../connection/results.ts';
import { uncheckedMethod } from '../../connection/whole-messages.ts';
import { CommandFailure } from '../errors.ts';
import { EXIT_INCOMPLETE, EXIT_NOT_FOUND } from './exit-codes.ts';
import { safe } from './printing/output.ts';
import type { Session } from './reaching/connect.ts';
import { WORDS } from './stops.ts';

/** The definition of a tool or a prompt, with all fields of the server. */
export type Definition = Data & { readonly name: string };

/** The most definitions and pages of one list. */
const MAX_DEFINITIONS = 10_000;
const MAX_PAGES = 1_000;

/** Says whether a list was cut before its end; `cut` is undefined for a list that was read to its end. */
export interface DefinitionsEnd {
  cut?: boolean;
}

/**
 * Lists the tools or prompts, page by page. A server that does not declare them has none.
 * @param end its `cut` becomes true if there may be more. @throws ResourceClientError
 */
export async function* definitions(
  kind: 'tools' | 'prompts',
  session: Session,
  end: DefinitionsEnd = {},
): AsyncGenerator<Definition> {
  if (session.facts.capabilities[kind] === undefined) {
    session.output.note(`${session.label} has no ${kind}`);
    return;
  }
  let count = 0;
  const pages = pagesIn({
    ask: (params) => request(`${kind}/list`, params, session),
    field: kind,
    entryIn: (entry) => (isDefinition(entry) ? entry : undefined),
    idOf: ({ name }) => name,
    maxPages: MAX_PAGES,
    refusal: invalidAnswer,
  });
  for await (const { entries, stopped } of pages) {
    const room = MAX_DEFINITIONS - count;
    count += Math.min(room, entries.length);
    yield* entries.slice(0, room);
    if (stopped === 'end' && entries.length <= room) return;
    if (stopped !== undefined && stopped !== 'end') {
      end.cut = true;
      session.output.note(WORDS[stopped]);
      return;
    }
    if (count >= MAX_DEFINITIONS) break;
  }
  end.cut = true;
  session.output.note(`stopped after ${count} ${kind}`);
}

const isDefinition = (entry: unknown): entry is Definition =>
  typeof entry === 'object' && entry !== null && typeof (entry as Data).name === 'string';

/** Returns the tool or prompt with a name. @throws CommandFailure if there is none; it suggests the nearest name */
export async function definitionOf(kind: 'tools' | 'prompts', name: string, session: Session): Promise<Definition> {
  const names: string[] = [];
  const end: DefinitionsEnd = {};
  for await (const definition of definitions(kind, session, end)) {
    if (definition.name === name) return definition;
    names.push(definition.name);
  }
  const near = names
    .map((other) => ({ other, far: distance(other.slice(0, 100).toLowerCase(), name.slice(0, 100).toLowerCase()) }))
    .filter(({ far }) => far <= Math.max(2, name.length / 3))
    .sort((a, b) => a.far - b.far)[0];
  const hint = near === undefined ? '' : `; did you mean "${safe(near.other)}"?`;
  const one = kind === 'tools' ? 'tool' : 'prompt';
  // The name may be in the part of the list that was cut off.
  if (end.cut === true) {
    const message = `${session.label}: No ${one} "${safe(name)}" is in the part of the list that was read${hint}`;
    throw new CommandFailure(message, EXIT_INCOMPLETE);
  }
  throw new CommandFailure(`${session.label}: There is no ${one} "${safe(name)}"${hint}`, EXIT_NOT_FOUND);
}

/** The progress of long work, as a server reports it. */
export interface Report {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Sends a request and returns the whole answer, with unknown fields. @throws ResourceClientError */
export async function request(
  method: string,
  params: Data,
  { resources, facts, signal, timeoutMs }: Session,
  onprogress?: (report: Report) => void,
): Promise<Data> {
  const client = await resources.client(signal);
  const options = { signal, timeout: timeoutMs, ...(onprogress && { onprogress, resetTimeoutOnProgress: true }) };
  try {
    return await client.request({ method: uncheckedMethod(method, facts.era), params }, anyResult, options);
  } catch (error) {
    signal.throwIfAborted();
    throw clientError(error);
  }
}
