/** Matches that a Vitrine finds by itself, with its tool for that. */
import { ResourceClientError } from '../../../client/errors.ts';
import type { Data } from '../../../client/link.ts';
import { type Definition, definitions, request } from '../definitions.ts';
import { messageOf } from '../failures.ts';
import type { Session } from '../reaching/connect.ts';
import type { Match, Query } from './query.ts';

const ARGUMENTS = ['pattern', 'literal', 'glob', 'uri', 'context', 'cursor'];

/** The most pages of one search. */
const MAX_PAGES = 10_000;

/** The tool, whatever prefix it has; undefined of a server that is no Vitrine, or that has its tools turned off. */
export async function searchToolOf(session: Session): Promise<Definition | undefined> {
  const { facts } = session;
  if (!facts.ranges || facts.capabilities.tools === undefined) return undefined;
  for await (const tool of definitions('tools', session)) {
    const { properties } = (tool.inputSchema ?? {}) as { readonly properties?: object };
    if (tool.name.endsWith('search') && ARGUMENTS.every((name) => name in (properties ?? {}))) return tool;
  }
  return undefined;
}

export async function* matchesOfTool(
  tool: Definition,
  uri: string | undefined,
  { pattern, literal, glob }: Query,
  session: Session,
): AsyncGenerator<Match> {
  const given = {
    pattern,
    literal,
    context: 0,
    ...(glob !== undefined && { glob }),
    ...(uri !== undefined && { uri }),
  };
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await request(
      'tools/call',
      { name: tool.name, arguments: { ...given, ...(cursor !== undefined && { cursor }) } },
      session,
      ({ progress }) => session.output.progress(`${progress} matches`),
    );
    const content: readonly unknown[] = Array.isArray(result.content) ? result.content : [];
    if (result.isError === true) {
      const said = (content[0] as { readonly text?: unknown } | undefined)?.text;
      throw failureOf(typeof said === 'string' ? said : 'The search failed', uri);
    }
    const { matches, nextCursor } = (result.structuredContent ?? {}) as Data;
    const places: readonly unknown[] = Array.isArray(matches) ? matches : [];
    // The first block says how many there are; then there is one for each.
    for (const [index, place] of places.entries()) {
      const { uri: at, line } = (place ?? {}) as Data;
      const block = content[index + 1] as { readonly resource?: { readonly text?: unknown } } | undefined;
      if (typeof at !== 'string' || typeof line !== 'number') continue;
      yield { uri: at, line, text: String(block?.resource?.text ?? '') };
    }
    if (typeof nextCursor !== 'string' || nextCursor === cursor) return;
    cursor = nextCursor;
  }
}

/** The tool says in words what went wrong. */
export const failureOf = (said: string, uri: string | undefined): ResourceClientError =>
  new ResourceClientError(
    /not found/i.test(said) ? 'not-found' : 'failed',
    messageOf(new Error(said)),
    uri === undefined ? {} : { uri },
  );
