/** Searches for a page: with the tool that every client has, so that nothing is found that such a client would not find. */
import type { Found } from '../../../frontends/explorer/search.ts';
import type { Sought } from '../../../frontends/explorer/search-address.ts';
import type { CallToolResult } from '../../../protocol/content.ts';
import { type Ask, Refused, type Visitor } from './ask.ts';

/** Lines around each match. */
const LINES = 1;

/** Words that can be a part of a glob as they are. */
const NAME = /^[\p{L}\p{N} ._-]+$/u;

/**
 * Looks for words in names and in texts: for the best places where there is an index, otherwise for the words as they are
 * written, in upper and lower case.
 * @param tool the name of the tool that searches
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

const anyCase = (words: string): string =>
  words.replace(/\p{L}/gu, (letter) => {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    return both.size === 2 && [...both].every((each) => [...each].length === 1) ? `[${[...both].join('')}]` : letter;
  });

/** A refusal of names is not shown: that of texts says the same. */
function none(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error;
}
