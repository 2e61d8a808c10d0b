import { describe, expect, it } from 'vitest';
import { RANGE_META_KEY, WINDOW_META_KEY } from '../../protocol/meta.ts';
import type { Client } from '../client/client.ts';
import { readThing, TEXT_BYTES } from './reading.ts';

interface ReadParams {
  readonly uri: string;
  readonly _meta: { readonly [RANGE_META_KEY]: { readonly offset: number; readonly length: number } };
}

/** A server with one text, of which it sends the requested window. */
const clientOf = (text: string): Client => ({
  request: async <T>(_method: string, params?: unknown) => {
    const { uri, _meta } = params as ReadParams;
    const { offset, length } = _meta[RANGE_META_KEY];
    const part = text.slice(offset, offset + length);
    const window = { offset, length: part.length, total: text.length };
    return { contents: [{ uri, mimeType: 'text/plain', text: part, _meta: { [WINDOW_META_KEY]: window } }] } as T;
  },
  listen: async () => {},
});

describe('the end of a text', () => {
  const text = `begin${'x'.repeat(2 * TEXT_BYTES)}end`;
  const resource = { uri: 'memory:///a.txt', name: 'a.txt', mimeType: 'text/plain' };

  it.each([
    ['whose size is known', { ...resource, size: text.length }],
    ['whose size is known after the first read only', resource],
  ])('is shown for a resource %s', async (_title, described) => {
    const thing = await readThing(clientOf(text), described, { from: 'end' }, new AbortController().signal);
    expect(thing.text).toHaveLength(TEXT_BYTES);
    expect(thing.text?.endsWith('end')).toBe(true);
  });
});
