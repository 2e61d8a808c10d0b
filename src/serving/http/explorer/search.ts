/** Searches for a page with the tool that every client has, so that the page finds nothing more than such a client. */

import { anyCase } from '../../../core/glob/any-case.ts';
import type { Found } from '../../../frontends/explorer/search.ts';
import type { Sought } from '../../../frontends/explorer/search-address.ts';
import type { CallToolResult } from '../../../protocol/content.ts';
import { type Ask, Refused, type Visitor } from './ask.ts';

/** Lines around each match. */
const LINES = 1;

/** Matches words that contain no special characters of globs. */
const NAME = /^[\p{L}\p{N} ._-]+$/u;

/**
 * Searches names and texts: for the best places where there is an index, otherwise for the literal words, ignoring case.
 * @param tool the name of the search tool
 * @throws Refused
 */
export async function searchFor(
  ask: Ask,
  { tool, isRanked }: { readonly tool: string; readonly isRanked: boolean },
  { words, cursor }: Sought,
  visitor: Visitor,
): Promise<Found | undefined> {
  if (words === '') return undefined;
  const call = (args: object): Promise<CallToolResult> =>
    ask<CallToolResult>('tools/call', { name: tool, arguments: args }, visitor);
  const question = isRanked
    ? { pattern: words, mode: 'ranked' }
    : { pattern: `(?i)${words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}` };
  const texts = call({ ...question, context: LINES, ...(cursor !== undefined && { cursor }) });
  const names =
    cursor === undefined && NAME.test(words) ? call({ glob: `*${anyCase(words)}*` }).catch(none) : undefined;
  return { texts: await texts, names: await names };
}

/** A refused search of names is not shown: the search of texts reports the same refusal. */
function none(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error;
}
