import { expect, it } from 'vitest';
import type { Definition } from '../definitions.ts';
import type { Session } from '../reaching/connect.ts';
import type { Query } from './query.ts';
import { matchesOfTool } from './tool.ts';

/** Searches a server that gives each page the cursor that `cursorOf` returns. */
async function searched(
  cursorOf: (page: number) => string | undefined,
  missing?: object[],
  lineOf = (page: number): number => page,
) {
  let pages = 0;
  const notes: string[] = [];
  let cuts = 0;
  const request = async () => ({
    content: [{}, { resource: { text: 'line' } }],
    structuredContent: {
      matches: [{ uri: 'x:///a', line: lineOf(pages + 1) }],
      nextCursor: cursorOf(++pages),
      missing,
    },
  });
  const session = {
    resources: { client: async () => ({ request }) },
    facts: { era: 'modern' },
    signal: new AbortController().signal,
    output: { note: (text: string) => notes.push(text), progress: () => {} },
  } as unknown as Session;
  const query = { pattern: 'line', literal: true } as Query;
  let matches = 0;
  for await (const _ of matchesOfTool({ name: 'search' } as Definition, undefined, query, session, () => cuts++))
    matches++;
  return { pages, matches, notes, cuts };
}

it('says that a search with endless pages is incomplete', async () => {
  expect(await searched(String)).toEqual({
    pages: 10_000,
    matches: 10_000,
    notes: ['stopped after 10000 pages of matches'],
    cuts: 1,
  });
});

it('says that a search with a repeated cursor is incomplete', async () => {
  expect(await searched(() => 'same')).toEqual({
    pages: 2,
    matches: 2,
    notes: ['the server repeats a cursor'],
    cuts: 1,
  });
});

it('says that a search whose cursors go in a circle is incomplete', async () => {
  expect(await searched((page) => ['a', 'b', 'c'][page % 3])).toEqual({
    pages: 4,
    matches: 4,
    notes: ['the server repeats a cursor'],
    cuts: 1,
  });
});

it('says that a search whose pages have nothing new is incomplete', async () => {
  expect(await searched(String, undefined, () => 1)).toEqual({
    pages: 101,
    matches: 101,
    notes: ['the server sends page after page with nothing new'],
    cuts: 1,
  });
});

it('refuses a cursor that is too long', async () => {
  await expect(searched(() => 'x'.repeat(65_537))).rejects.toThrow('The server sent a cursor that is too long');
});

it.each([1, 10_000])('says nothing about a search that ends after %i pages', async (last) => {
  expect(await searched((page) => (page < last ? String(page) : undefined))).toEqual({
    pages: last,
    matches: last,
    notes: [],
    cuts: 0,
  });
});

it('says once what was not searched, and that the search is incomplete', async () => {
  const missing = [{ mount: 'away', reason: 'It is out of reach' }];
  expect(await searched((page) => (page < 3 ? String(page) : undefined), missing)).toEqual({
    pages: 3,
    matches: 3,
    notes: ['missing: [{"mount":"away","reason":"It is out of reach"}]'],
    cuts: 1,
  });
});
