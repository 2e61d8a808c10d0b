import { describe, expect, it } from 'vitest';
import {
  embeddedIn,
  engineOf,
  memoryEngine,
  nextOffset,
  structured,
  textOf,
  type WindowAnswer,
} from '../../../test/tools/engine.ts';
import { wrapProvider } from '../../core/layer.ts';
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import { memoryProvider } from '../../providers/memory/index.ts';

const BUDGET = 1_000;
const budget = { resourceTools: { outputBytes: BUDGET } };

describe('read of lines', () => {
  const text = Array.from({ length: 400 }, (_, index) => `line ${index + 1} é`).join('\n');

  it('accepts the URIs of search, in every form [CB-7]', async () => {
    await using engine = memoryEngine({ 'a.txt': { text } }, budget);
    const uri = 'm+memory:///a.txt#L2-L3';
    expect(embeddedIn(await engine.call('read', { uri }))).toMatchObject([{ uri, text: 'line 2 é\nline 3 é\n' }]);
    expect(textOf(await engine.call('read', { uri, as: 'plain' }))).toBe('line 2 é\nline 3 é\n');
    const window = structured<WindowAnswer>(await engine.call('read', { uri, as: 'window' }));
    expect(window).toMatchObject({ window: { start_offset: 10 }, parts: [{ text: 'line 2 é\nline 3 é\n' }] });
  });

  it('gives a window if the lines are over the budget, from the first one on', async () => {
    await using engine = memoryEngine({ 'a.txt': { text } }, budget);
    const result = await engine.call('read', { uri: 'm+memory:///a.txt#L10-L400' });
    expect(structured<WindowAnswer>(result).parts[0]?.text?.startsWith('line 10 é\n')).toBe(true);
    expect(structured<WindowAnswer>(result).parts[0]?.bytes_returned).toBeLessThanOrEqual(BUDGET);
    const next = await engine.call('read', { uri: 'm+memory:///a.txt', start_offset: nextOffset(result) });
    expect(next.isError).toBeUndefined();
  });

  it('gives a window of the format that has the lines, not of the original', async () => {
    const [original, markdown] = ['application/octet-stream', 'text/markdown'];
    const formats = { [FORMATS_META_KEY]: [{ mimeType: original }, { mimeType: markdown }] };
    const memory = memoryProvider({
      resources: { 'a.bin': { bytes: Uint8Array.from({ length: 9_000 }, (_, index) => (index * 7 + 128) % 256) } },
    });
    const documents = wrapProvider(memory, {
      async read(uri, want, ctx) {
        const bodies = await memory.read(uri, want, ctx);
        return bodies.flatMap((body) => {
          const resource = { ...body.resource, mimeType: original, _meta: formats };
          const content = { kind: 'bytes', bytes: Buffer.from(text) } as const;
          const asText = { resource: { ...resource, mimeType: markdown, size: content.bytes.byteLength }, content };
          if (want.accept?.[0] === markdown) return [asText];
          return want.range === undefined ? [{ ...body, resource }, asText] : [{ ...body, resource }];
        });
      },
    });
    await using engine = engineOf({ m: documents }, budget);
    const uri = 'm+memory:///a.bin';
    const result = await engine.call('read', { uri: `${uri}#L10-L400` });
    const [part] = structured<WindowAnswer>(result).parts;
    expect(part).toMatchObject({ kind: 'text', mime: markdown });
    expect(part?.text?.startsWith('line 10 é\n')).toBe(true);
    expect(textOf(result)).toContain(`"format":"${markdown}"`);
  });

  it('refuses lines together with a window, and missing lines', async () => {
    await using engine = memoryEngine({ 'a.txt': { text } });
    expect(await engine.refusal('read', { uri: 'm+memory:///a.txt#L2', start_offset: 1 })).toContain('leave out');
    expect(await engine.refusal('read', { uri: 'm+memory:///a.txt#L9999' })).toContain('ends before line 9999');
  });
});
