import { expect, it } from 'vitest';
import type { Session } from '../reaching/connect.ts';
import type { Query } from './query.ts';
import { matchesByReading } from './reading.ts';

/** Searches a resource whose lines all match. */
async function searched(lines: number, firstOnly = false) {
  const notes: string[] = [];
  let cuts = 0;
  const session = {
    resources: {
      metadata: async () => ({ resource: { uri: 'x:///a', name: 'a' } }),
      read: async () => ({ primary: { text: () => 'line\n'.repeat(lines) } }),
    },
    signal: new AbortController().signal,
    output: { note: (text: string) => notes.push(text), progress: () => {} },
  } as unknown as Session;
  const query = { test: (line: string) => line.indexOf('line'), glob: undefined, firstOnly } as unknown as Query;
  let matches = 0;
  for await (const _ of matchesByReading('x:///a', query, session, () => cuts++)) matches++;
  return { matches, notes, cuts };
}

it('says that the matches of one resource are incomplete', async () => {
  expect(await searched(1_001)).toEqual({
    matches: 1_000,
    notes: ['x:///a: stopped after 1000 matches'],
    cuts: 1,
  });
});

it.each([
  [1_000, false, 1_000],
  [1_001, true, 1],
])('says nothing about %i matches if all are wanted, or only one (%j)', async (lines, firstOnly, matches) => {
  expect(await searched(lines, firstOnly)).toEqual({ matches, notes: [], cuts: 0 });
});
