import { describe, expect, it } from 'vitest';
import { httpSnippets, stdioSnippets } from './hosts.ts';

/** The JSON of every snippet that has some. */
const blocks = (text: string): unknown[] => [...text.matchAll(/\{.*\}/g)].map(([json]) => JSON.parse(json));

describe('snippets for hosts', () => {
  it('are JSON that a host reads, whatever the server is called', () => {
    for (const name of ['docs', 'team docs', 'the "best"']) {
      const url = 'http://127.0.0.1:8931/mcp';
      expect(blocks(httpSnippets(name, url))).toEqual([
        { servers: { [name]: { type: 'http', url } } },
        { mcpServers: { [name]: { url } } },
      ]);
      const [first] = blocks(stdioSnippets(name, ['/data/my docs']));
      const entry = (first as { mcpServers: Record<string, { args: string[] }> }).mcpServers[name];
      expect(entry?.args.slice(-2)).toEqual(['serve', '/data/my docs']);
      expect(blocks(stdioSnippets(name, ['/data/my docs']))).toEqual([
        { mcpServers: { [name]: entry } },
        { servers: { [name]: entry } },
        { mcpServers: { [name]: entry } },
      ]);
    }
  });

  it('are commands that a shell takes apart as they were meant', () => {
    expect(httpSnippets('team docs', 'http://127.0.0.1:1/mcp')).toContain(`add --transport http 'team docs' http://`);
    const [line = ''] = stdioSnippets('team docs', ['/plain/path', "/it's here"]).split('\n');
    expect(line).toMatch(/claude mcp add 'team docs' -- \S+ .*serve \/plain\/path '\/it'\\''s here'$/);
  });
});
