/** A tool that reads resources through the same layers and rules as clients. */
import assert from 'node:assert/strict';
import { createVitrine, defineTool, textBlock } from 'vitrine';
import { createResourceClient } from 'vitrine/client';
import { memoryProvider } from 'vitrine/providers/memory';
import { z } from 'zod';

const notes = memoryProvider({ resources: { 'ideas.md': { text: '# Ideas\n\nA clock that waits' } } });

const measure = defineTool({
  name: 'measure',
  description: 'Counts the words of a note',
  inputSchema: z.object({ note: z.string() }),
  outputSchema: z.object({ words: z.number() }),
  async run({ note }, { principal, signal }) {
    const [found] = await vitrine.read(`notes+memory:///${encodeURIComponent(note)}`, { principal, signal });
    const text = found !== undefined && 'text' in found ? found.text : '';
    const words = text.split(/\s+/).filter(Boolean).length;
    return { content: [textBlock(`${words} words`)], structuredContent: { words } };
  },
});

const vitrine = createVitrine({ mounts: { notes }, tools: [measure] });
const inProcess: typeof fetch = async (input, init) => vitrine.fetch(new Request(input, init));
await using resources = createResourceClient({ url: 'http://localhost/mcp', fetch: inProcess });
const client = await resources.client();
const { structuredContent } = await client.callTool({ name: 'measure', arguments: { note: 'ideas.md' } });
assert.deepEqual(structuredContent, { words: 6 });
await resources.close();
await vitrine.close();
