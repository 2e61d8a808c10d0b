import { expect, it } from 'vitest';
import { type DefinitionsEnd, definitions } from './definitions.ts';
import type { Session } from './reaching/connect.ts';

/** Lists tools in pages of these sizes. Every page except the last has a cursor. */
async function listed(...sizes: readonly number[]) {
  const notes: string[] = [];
  let count = 0;
  let page = 0;
  const request = async () => {
    const tools = Array.from({ length: sizes[page++] ?? 0 }, () => ({ name: `tool-${count++}` }));
    return { tools, ...(page < sizes.length && { nextCursor: String(page) }) };
  };
  const session = {
    label: 'server',
    resources: { client: async () => ({ request }) },
    facts: { era: 'modern', capabilities: { tools: {} } },
    signal: new AbortController().signal,
    output: { note: (text: string) => notes.push(text) },
  } as unknown as Session;
  const end: DefinitionsEnd = {};
  let found = 0;
  for await (const _ of definitions('tools', session, end)) found++;
  return { found, cut: end.cut ?? false, notes };
}

it.each([[[10_000]], [[4_000, 6_000]], [[9_999]], [[0]]])('a list of pages %j is whole', async (sizes) => {
  expect(await listed(...sizes)).toEqual({ found: sizes.reduce((sum, size) => sum + size), cut: false, notes: [] });
});

it.each([[[10_001]], [[4_000, 6_001]], [[10_000, 1]]])('a list of pages %j is cut', async (sizes) => {
  expect(await listed(...sizes)).toEqual({ found: 10_000, cut: true, notes: ['stopped after 10000 tools'] });
});
