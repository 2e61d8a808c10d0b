/** Finds matches with the search tool of a Vitrine. */
import { ResourceClientError } from '../../../client/errors.ts';
import type { Data } from '../../../client/link.ts';
import { markOf } from '../../../connection/paging.ts';
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
  const used = new Set<number>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await request(
      'tools/call',
      { name: tool.name, arguments: { ...query, ...(cursor !== undefined && { cursor }) } },
      session,
      ({ progress }) => session.output.progress(`${progress} matches`),
    );
    const content: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
    if (result.isError === true) {
      const message = (content[0] as { readonly text?: unknown } | undefined)?.text;
      throw failureOf(typeof message === 'string' ? message : 'The search failed', uri);
    }
    const { matches, nextCursor, missing } = (result.structuredContent ?? {}) as Data;
    const places: readonly unknown[] = Array.isArray(matches) ? matches : [];
    // The first block counts the matches. After it comes one block for each match.
    for (const [index, place] of places.entries()) {
      const { uri: at, line } = (place ?? {}) as Data;
      const block = content[index + 1] as { readonly resource?: { readonly text?: unknown } } | undefined;
      if (typeof at !== 'string' || typeof line !== 'number') continue;
      yield { uri: at, line, text: valueText(block?.resource?.text ?? '') };
    }
    if (typeof nextCursor !== 'string') {
      // Each page names the parts that were missing so far.
      if (Array.isArray(missing) && missing.length > 0) {
        session.output.note(`missing: ${JSON.stringify(missing).slice(0, 500)}`);
        cut();
      }
      return;
    }
    const mark = markOf(nextCursor);
    if (used.has(mark)) {
      session.output.note(WORDS['repeated-cursor']);
      return cut();
    }
    used.add(mark);
    cursor = nextCursor;
  }
  session.output.note(`stopped after ${MAX_PAGES} pages of matches`);
  cut();
}

/** Makes an error from the message of the tool. The words of the message decide on the code, because a tool gives no code. */
export const failureOf = (message: string, uri: string | undefined): ResourceClientError =>
  new ResourceClientError(
    /not found/i.test(message) ? 'not-found' : 'failed',
    messageOf(new Error(message)),
    uri === undefined ? {} : { uri },
  );
