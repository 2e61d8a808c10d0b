/** Windows of the `read` tool over one format, the facts that it gives without content, and its argument `server`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallToolResult } from '../../src/protocol/content.ts';
import type { Resource } from '../../src/protocol/resources.ts';
import { structured, textOf, type WindowAnswer } from '../tools/engine.ts';
import { read as readItems } from './answers.ts';
import { type Connected, connect, MATRIX, MUSEUM_CONFIG } from './harness.ts';

/** A row of a database, in JSON and in Markdown: small, with several formats. */
const ROW = 'registrar+sqlite:///objects/VM.1931.001';

describe.each(MATRIX)('the read tool over $transport, $era', ({ transport, era }) => {
  let museum: Connected;
  beforeAll(async () => {
    museum = await connect(transport, era, ['--config', MUSEUM_CONFIG]);
  });
  afterAll(() => museum.close());

  const read = (args: Record<string, unknown>): Promise<CallToolResult> =>
    museum.request('tools/call', { name: 'read', arguments: args }) as unknown as Promise<CallToolResult>;

  it.each([
    [undefined, 'application/json', 40],
    ['application/json', 'application/json', 7],
    ['text/markdown', 'text/markdown', 40],
    ['text/markdown', 'text/markdown', 25_000],
  ])('gives format %s in windows that are %s, of %i bytes [CB-10]', async (format, mime, max_bytes) => {
    const contents = await readItems(museum, ROW);
    const whole = contents.find(({ mimeType }) => mimeType === mime)?.text ?? '';
    let text = '';
    for (let start_offset = 0; ; ) {
      const args = { uri: ROW, as: 'window', start_offset, max_bytes, ...(format !== undefined && { format }) };
      const result = await read(args);
      expect(result.isError, textOf(result)).not.toBe(true);
      const { parts, total_parts } = structured<WindowAnswer>(result);
      const [part] = parts;
      expect(total_parts).toBe(1);
      expect(part).toMatchObject({ mime, total_bytes: Buffer.byteLength(whole) });
      text += part?.text ?? '';
      start_offset += part?.bytes_returned ?? 0;
      if (start_offset >= Buffer.byteLength(whole)) break;
    }
    expect(text).toBe(whole);
  });

  it('gives the facts of a resource, and no content, for max_bytes 0 [CB-10]', async () => {
    const result = await read({ uri: 'museum+file:///README.md', max_bytes: 0 });
    const { resource, ...rest } = structured<{ resource: Resource; window: object; parts: readonly object[] }>(result);
    expect(resource).toMatchObject({ uri: 'museum+file:///README.md', mimeType: 'text/markdown' });
    expect(rest).toEqual({ window: { start_offset: 0, max_bytes: 0 }, parts: [] });
    expect(textOf(result)).toContain(`size: ${resource.size} bytes`);
    expect(textOf(result)).not.toContain('#');
  });

  it('accepts a server and its own URI [CB-10]', async () => {
    const published = await read({ uri: ROW });
    for (const uri of ['sqlite:///objects/VM.1931.001', ROW])
      expect((await read({ server: 'registrar', uri })).content).toEqual(published.content);
    const wrong = await read({ server: 'nobody', uri: ROW });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain('There is no mount named "nobody"; there are: museum, registrar');
  });
});
