/** The search tool of a running server: its matches in the museum can be read by their URIs. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import type { ResourceContents } from '../../src/protocol/resources.ts';
import { embeddedIn, structured, textOf } from '../tools/engine.ts';
import { type Connected, connect, MATRIX, MUSEUM_CONFIG } from './harness.ts';

interface SearchAnswer {
  readonly matches: readonly { readonly uri: string; readonly line?: number }[];
  readonly nextCursor?: string;
}

describe.each(MATRIX)('search over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  beforeAll(async () => {
    museum = await connect(transport, era, ['--config', MUSEUM_CONFIG]);
  });
  afterAll(() => museum.close());

  const search = async (args: Record<string, unknown>): Promise<CallToolResult> =>
    (await museum.client.callTool({ name: 'search', arguments: args })) as unknown as CallToolResult;

  it('finds places that can be read, over all pages [CB-7]', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const result = await search({ pattern: 'clock', context: 0, ...(cursor !== undefined && { cursor }) });
      expect(result.isError, textOf(result)).not.toBe(true);
      for (const match of embeddedIn(result)) {
        const { contents } = await museum.request<{ contents: ResourceContents[] }>('resources/read', {
          uri: match.uri,
        });
        const [item] = contents;
        const text = item && 'text' in item ? item.text : '';
        expect(text).toContain('clock');
        expect(text.replace(/\r?\n$/, '')).toBe('text' in match ? match.text : undefined);
        seen.push(match.uri);
      }
      cursor = structured<SearchAnswer>(result).nextCursor;
    } while (cursor !== undefined);
    expect(seen.length).toBeGreaterThan(20);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('finds names, and nothing if nothing matches [CB-7]', async () => {
    const names = structured<SearchAnswer>(await search({ glob: '*clock*.md' }));
    expect(names.matches.map(({ uri }) => decodeURIComponent(uri))).toEqual([
      'museum+file:///collection/naïve café clock – №7.md',
    ]);
    expect(structured<SearchAnswer>(await search({ pattern: 'no such thing anywhere' })).matches).toEqual([]);
  });

  it('reports what is wrong with a pattern, and reveals nothing of this machine', async () => {
    const result = await search({ pattern: '(' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/regular expression/);
    expect(textOf(result)).not.toContain(process.cwd());
  });
});
