import { expect, it } from 'vitest';
import { examine, isContainer } from './examined.ts';
import type { Wire } from './wire.ts';

it('a page with more entries than fit on the stack is read', async () => {
  const tools = Array.from({ length: 200_000 }, (_, index) => ({ name: `tool-${index}` }));
  const wire = { era: 'legacy', ask: async () => ({ kind: 'result', result: { tools } }) } as unknown as Wire;
  const examined = examine(wire, { tools: {} }, { sample: 1, pages: 10, timeoutMs: 1_000, endMs: 1_000 });
  expect((await examined.list('tools')).entries).toHaveLength(200_000);
});

it('an entry whose URI is no text is no container', () => {
  expect(isContainer({ uri: { toString: 1, valueOf: 1 }, capabilities: {} })).toBe(false);
});
