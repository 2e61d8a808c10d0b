import { describe, expect, it } from 'vitest';
import { engineOf, memoryEngine, structured, textOf } from '../../../test/tools/engine.ts';
import { wrapProvider } from '../../core/layer.ts';
import { memoryProvider } from '../../providers/memory/index.ts';

describe('the describe tool', () => {
  it('gives the known facts, in text and in structure [CB-2, 2093-2]', async () => {
    const annotations = { lastModified: '2026-01-01T00:00:00.000Z' };
    await using engine = memoryEngine({
      'a.md': { text: 'x'.repeat(400), title: 'The\ntitle', description: 'What it is', annotations },
      'b.zip': { bytes: new Uint8Array(300) },
    });
    const result = await engine.call('describe', { uri: 'm+memory:///a.md' });
    expect(textOf(result).split('\n')).toEqual([
      'm+memory:///a.md',
      'name: a.md',
      'title: The title',
      'description: What it is',
      'type: text/markdown',
      'size: 400 bytes, about 100 tokens',
      'last modified: 2026-01-01T00:00:00.000Z',
      'can be subscribed to',
      'Next: read {"uri":"m+memory:///a.md"}',
    ]);
    expect(structured<{ resource: object }>(result)).toEqual({
      resource: {
        uri: 'm+memory:///a.md',
        name: 'a.md',
        title: 'The\ntitle',
        description: 'What it is',
        mimeType: 'text/markdown',
        size: 400,
        annotations,
        capabilities: { list: false, subscribe: true },
      },
    });
    const binary = textOf(await engine.call('describe', { uri: 'm+memory:///b.zip' }));
    expect(binary).toContain('size: 300 bytes, binary, about 134 tokens as base64');
  });

  it('never reads, and points to list for a directory', async () => {
    const memory = memoryProvider({ resources: { 'd/a.md': { text: 'a' } } });
    const closed = wrapProvider(memory, {
      read: () => {
        throw new Error('describe has read');
      },
    });
    await using engine = engineOf({ m: closed });
    expect(textOf(await engine.call('describe', { uri: 'm+memory:///d/a.md' }))).toContain('text/markdown');
    const directory = textOf(await engine.call('describe', { uri: 'm+memory:///d' }));
    expect(directory).toContain('type: directory');
    expect(directory).toContain('Next: list {"uri":"m+memory:///d"}');
  });

  it('describes the resource of a line range', async () => {
    await using engine = memoryEngine({ 'a.md': { text: 'a\nb' } });
    expect(textOf(await engine.call('describe', { uri: 'm+memory:///a.md#L2' }))).toContain('name: a.md');
  });

  it('keeps control characters of providers out of its text [SEC-TOOL-3]', async () => {
    await using engine = memoryEngine({ 'a.md': { text: 'a', title: 'red \u001b[31m and \u202e back' } });
    const said = textOf(await engine.call('describe', { uri: 'm+memory:///a.md' }));
    expect(said).toContain('title: red  and  back');
  });
});
