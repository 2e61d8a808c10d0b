import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/e2e/folders.ts';
import { embeddingServer } from '../../test/tools/embedding-server.ts';
import { type Engine, embeddedIn, engineOf, memoryEngine, structured, textOf } from '../../test/tools/engine.ts';
import { SILENT } from '../core/context.ts';
import { memoryProvider } from '../providers/memory/index.ts';
import { createEmbedder } from './embeddings.ts';
import { createIndex } from './index.ts';
import { sqlitePackage } from './library.ts';
import { sqlThread } from './thread.ts';

const DIRECTIONS = [['clock', 'timepiece'], ['key'], ['bell', 'chime']];
const annotations = { lastModified: '2025-04-01T10:00:00Z' };
const RESOURCES = {
  'a.md': { text: '# Hall\n\nAn old timepiece.\n', annotations },
  'b.md': { text: 'The clock.\n', annotations },
  'c.md': { text: 'A key of brass.\n', annotations },
};

async function find(engine: Engine, pattern: string): Promise<readonly string[]> {
  const result = await engine.call('search', { pattern, mode: 'ranked' });
  if (result.isError) throw new Error(textOf(result));
  return structured<{ matches: readonly { uri: string }[] }>(result).matches.map(({ uri }) => uri.slice(-4));
}

describe('a search by meaning', () => {
  it('finds passages with other words, beside those with the same words, and shows their lines', async () => {
    await using folder = await temporaryFolder({});
    await using server = await embeddingServer(DIRECTIONS);
    const index = createIndex({ folder: folder.path, embeddings: { url: server.url, model: 'm' } });
    await using engine = memoryEngine(RESOURCES, { index });
    await engine.vitrine.ranked?.settled();
    expect(await find(engine, 'clock')).toEqual(['b.md', 'a.md']);
    const [found] = embeddedIn(await engine.call('search', { pattern: 'chime timepiece bell', mode: 'ranked' }));
    expect(found).toMatchObject({ uri: expect.stringContaining('a.md#L') });
    expect(await find(engine, '"clock"')).toEqual(['b.md']);
    expect(await find(engine, 'clock larger:1m')).toEqual([]);
    engine.memory.delete('a.md');
    await expect.poll(() => find(engine, 'clock')).toEqual(['b.md']);
    engine.memory.set('d.md', { text: 'This timepiece too.' });
    await expect.poll(() => find(engine, 'clock')).toEqual(['b.md', 'd.md']);
  });

  it('finds passages by meaning inside a folder, however many nearer ones are outside', async () => {
    await using folder = await temporaryFolder({});
    await using server = await embeddingServer(DIRECTIONS);
    const index = createIndex({ folder: folder.path, embeddings: { url: server.url, model: 'm' } });
    const outside = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`${at}.md`, { text: 'A timepiece.' }]));
    await using engine = memoryEngine({ ...outside, 'in/a.md': { text: 'A timepiece beside a key.' } }, { index });
    await engine.vitrine.ranked?.settled();
    expect(await find(engine, 'chime timepiece clock in:m+memory:///in')).toEqual(['a.md']);
    expect(await find(engine, 'clock in:m+memory:///in')).toEqual(['a.md']);
  });

  it('removes the vectors of removed resources', async () => {
    await using folder = await temporaryFolder({});
    await using server = await embeddingServer(DIRECTIONS);
    const index = createIndex({ folder: folder.path, embeddings: { url: server.url, model: 'm' } });
    const engine = memoryEngine({ ...RESOURCES, 'f/x.md': { text: '# Escapement\n\nA key.' } }, { index });
    await engine.vitrine.ranked?.settled();
    const before = engine.vitrine.ranked?.state().resources ?? 0;
    engine.memory.delete('f/x.md');
    await expect.poll(() => engine.vitrine.ranked?.state().resources ?? before).toBeLessThan(before);
    await engine[Symbol.asyncDispose]();
    const file = join(folder.path, 'vectors.sqlite');
    const thread = sqlThread({ library: sqlitePackage(), file, lock: `${file}.test`, pragmas: [] });
    const [rows = []] = await thread.run([['SELECT uri FROM vector ORDER BY uri']]);
    await thread.close();
    expect(rows.map(([uri]) => String(uri).slice(-4))).toEqual(['a.md', 'b.md', 'c.md']);
  });

  it('keeps its vectors, and sends no text twice', async () => {
    await using folder = await temporaryFolder({});
    await using server = await embeddingServer(DIRECTIONS);
    const make = (): Engine =>
      memoryEngine(RESOURCES, {
        index: createIndex({ folder: folder.path, embeddings: { url: server.url, model: 'm' } }),
      });
    {
      await using engine = make();
      await engine.vitrine.ranked?.settled();
    }
    const sent = server.texts.length;
    await using engine = make();
    await engine.vitrine.ranked?.settled();
    expect(await find(engine, 'clock')).toEqual(['b.md', 'a.md']);
    expect(server.texts.slice(sent)).toEqual(['clock']);
  });

  it('sends no secret that is redacted, and finds nothing that the caller may not read', async () => {
    await using folder = await temporaryFolder({});
    await using server = await embeddingServer(DIRECTIONS);
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const resources = {
      ...RESOURCES,
      'hidden/s.md': { text: 'A secret timepiece.' },
      'd.md': { text: `key ${secret}` },
    };
    await using engine = engineOf(
      { m: memoryProvider({ resources }) },
      {
        index: createIndex({ folder: folder.path, embeddings: { url: server.url, model: 'm' } }),
        redact: {},
        access: { rules: [{ effect: 'hide', uris: ['m+memory:///hidden/**'] }], default: 'allow' },
      },
    );
    await engine.vitrine.ranked?.settled();
    expect(server.texts.join('\n')).not.toContain(secret);
    expect(await find(engine, 'clock')).toEqual(['b.md', 'a.md']);
  });

  it.each(['status', 'nonsense', 'other dimensions', 'never'] as const)(
    'goes on by words if the server answers: %s',
    async (answer) => {
      await using folder = await temporaryFolder({});
      await using server = await embeddingServer(DIRECTIONS);
      const warned: string[] = [];
      const log = { ...SILENT, warn: (message: string) => void warned.push(message) };
      const embeddings = { url: server.url, model: 'm', timeoutSeconds: 1 };
      await using engine = memoryEngine(RESOURCES, { index: createIndex({ folder: folder.path, embeddings, log }) });
      await engine.vitrine.ranked?.settled();
      server.answer = answer;
      expect(await find(engine, 'clock')).toEqual(['b.md']);
      expect(await find(engine, 'key')).toEqual(['c.md']);
      expect(warned).toEqual(['there are no embeddings now; ranked search goes on by words alone']);
    },
  );

  it('asks again after the server was left alone for a while', async () => {
    await using server = await embeddingServer(DIRECTIONS);
    const embedder = createEmbedder({ url: server.url, model: 'm' }, SILENT, 0);
    const { signal } = new AbortController();
    server.answer = 'status';
    expect(await embedder.embed(['clock'], signal)).toBeUndefined();
    server.answer = 'well';
    const [vector] = (await embedder.embed(['clock'], signal)) ?? [];
    expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1);
  });
});
