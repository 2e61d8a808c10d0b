/** Finds matches with the search tool of a Vitrine. */
import { invalidAnswer, ResourceClientError } from '../../../client/errors.ts';
import type { Data } from '../../../client/link.ts';
import { pagesIn } from '../../../connection/paging.ts';
import { type Definition, definitions, request } from '../definitions.ts';
import { messageOf } from '../failures.ts';
import { valueText } from '../printing/output.ts';
import type { Session } from '../reaching/connect.ts';
import { WORDS } from '../stops.ts';
import type { Match, Query } from './query.ts';

/** Arguments by which the search tool is recognized. */
const ARGUMENTS = ['pattern', 'literal', 'glob', 'uri', 'context', 'cursor'];

/** The most pages of one search. */
const MAX_PAGES = 10_000;

/** Finds the search tool, whatever its prefix; undefined if the server is no Vitrine, or has its tools turned off. */
export async function searchToolOf(session: Session): Promise<Definition | undefined> {
  const { facts } = session;
  if (!facts.ranges || facts.capabilities.tools === undefined) return undefined;
  for await (const tool of definitions('tools', session)) {
    const { properties } = (tool.inputSchema ?? {}) as { readonly properties?: object };
    if (tool.name.endsWith('search') && ARGUMENTS.every((name) => name in (properties ?? {}))) return tool;
  }
  return undefined;
}

/**
 * Gives the matches that the search tool finds, page by page.
 * @param cut is called when there may be more @throws ResourceClientError
 */
export async function* matchesOfTool(
  tool: Definition,
  uri: string | undefined,
  { pattern, literal, glob }: Query,
  session: Session,
  cut: () => void,
): AsyncGenerator<Match> {
  const query = {
    pattern,
    literal,
    context: 0,
    ...(glob !== undefined && { glob }),
    ...(uri !== undefined && { uri }),
  };
  let missing: unknown;
  async function ask(page: Data): Promise<Data> {
    const result = await request(
      'tools/call',
      { name: tool.name, arguments: { ...query, ...page } },
      session,
      ({ progress }) => session.output.progress(`${progress} matches`),
    );
    const content: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
    if (result.isError === true) {
      const message = (content[0] as { readonly text?: unknown } | undefined)?.text;
      throw failureOf(typeof message === 'string' ? message : 'The search failed', uri);
    }
    const { matches, nextCursor, ...rest } = (result.structuredContent ?? {}) as Data;
    // Each page names the parts that were missing so far.
    missing = rest.missing;
    const places: readonly unknown[] = Array.isArray(matches) ? matches : [];
    // The first block counts the matches. After it comes one block for each match.
    return { matches: places.map((place, index) => ({ place, block: content[index + 1] })), nextCursor };
  }
  const pages = pagesIn({
    ask,
    field: 'matches',
    entryIn: (entry) => matchOf(entry as Sent),
    idOf: ({ uri: at, line }) => `${at} ${line}`,
    maxPages: MAX_PAGES,
    refusal: invalidAnswer,
  });
  for await (const { entries, stopped } of pages) {
    yield* entries;
    if (stopped === undefined) continue;
    if (stopped !== 'end') {
      session.output.note(WORDS[stopped]);
      cut();
    } else if (Array.isArray(missing) && missing.length > 0) {
      session.output.note(`missing: ${JSON.stringify(missing).slice(0, 500)}`);
      cut();
    }
    return;
  }
  session.output.note(`stopped after ${MAX_PAGES} pages of matches`);
  cut();
}

/** A match with its content block, as the tool sent them. */
interface Sent {
  readonly place: unknown;
  readonly block: unknown;
}

function matchOf({ place, block }: Sent): Match | undefined {
  const { uri, line } = (place ?? {}) as Data;
  if (typeof uri !== 'string' || typeof line !== 'number') return undefined;
  const { resource } = (block ?? {}) as { readonly resource?: { readonly text?: unknown } };
  return { uri, line, text: valueText(resource?.text ?? '') };
}

/** Makes an error from the message of the tool. The words of the message decide on the code, because a tool gives no code. */
export const failureOf = (message: string, uri: string | undefined): ResourceClientError =>
  new ResourceClientError(
    /not found/i.test(message) ? 'not-found' : 'failed',
    messageOf(new Error(message)),
    uri === undefined ? {} : { uri },
  );
