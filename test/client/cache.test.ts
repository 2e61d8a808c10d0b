/** The cache of the client library: which answers it keeps, for how long, for whom, and what removes them. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CacheSettings,
  type CacheStore,
  createResourceClient,
  memoryStore,
  type ResourceClient,
} from '../../src/client/index.ts';
import { diskStore } from '../../src/client/node/index.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { connect, ERAS, MATRIX } from '../e2e/harness.ts';
import { until, within } from '../e2e/waiting.ts';
import { type Answers, all, eraOf, type Scripted, scripted } from './scripted.ts';

const URI = 'doc:///one';

/** Contents that count how often they were sent. `hint` is the cache hint of each answer. */
function counting(hint: object, described: () => object = () => ({})): Answers {
  let reads = 0;
  return {
    'resources/read': ({ uri }) => ({
      contents: [{ uri, name: 'one', text: `read ${++reads}`, ...described() }],
      ...hint,
    }),
    'resources/list': () => ({ resources: [{ uri: URI, name: 'one' }], ...hint }),
    'resources/metadata': ({ uri }) => ({ resource: { uri, name: 'one', ...described() }, ...hint }),
  };
}

const FRESH = { ttlMs: 60_000, cacheScope: 'private' };

const textOf = async (resources: ResourceClient, uri = URI): Promise<string | undefined> =>
  (await resources.read(uri)).primary?.text();

describe.each(ERAS)('answers of a server of the %s era', (era) => {
  const client = (server: Scripted, cache: CacheSettings = {}): ResourceClient =>
    createResourceClient({ url: server.url, ...eraOf[era] }, { cache });

  it('are cached as long as the server says', async () => {
    await using server = await scripted(counting(FRESH));
    await using resources = client(server);
    expect(await textOf(resources)).toBe('read 1');
    const again = await resources.read(URI);
    expect([again.primary?.text(), again.from]).toEqual(['read 1', 'cache']);
    await resources.metadata(URI);
    await resources.metadata(URI);
    await all(resources.list());
    await all(resources.list());
    expect(server.asked.map(({ method }) => method)).toEqual([
      'resources/read',
      'resources/metadata',
      'resources/list',
    ]);
    expect((await resources.read(URI, { fresh: true })).primary?.text()).toBe('read 2');
    expect(await textOf(resources)).toBe('read 2');
    await resources.forget();
    expect(await textOf(resources)).toBe('read 3');
  });

  it('are not cached without a hint, or with one that they are stale at once', async () => {
    await using server = await scripted(counting({ ttlMs: 0, cacheScope: 'public' }));
    await using resources = client(server);
    expect([await textOf(resources), await textOf(resources)]).toEqual(['read 1', 'read 2']);
  });

  it('are not cached if the client turns that off', async () => {
    await using server = await scripted(counting(FRESH));
    await using resources = client(server, { store: false });
    expect([await textOf(resources), await textOf(resources)]).toEqual(['read 1', 'read 2']);
  });

  it('that are private are shared only by clients of the same partition', async () => {
    for (const [scope, expected] of [
      ['private', ['read 1', 'read 2', 'read 1']],
      ['public', ['read 1', 'read 1', 'read 1']],
    ] as const) {
      await using server = await scripted(counting({ ttlMs: 60_000, cacheScope: scope }));
      const store = memoryStore();
      await using ann = client(server, { store, partition: 'ann' });
      await using bob = client(server, { store, partition: 'bob' });
      await using annToo = client(server, { store, partition: 'ann' });
      expect([await textOf(ann), await textOf(bob), await textOf(annToo)]).toEqual(expected);
    }
  });

  it('are requested once for concurrent callers, and cancelled when all have left', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let aborted = 0;
    let reads = 0;
    await using server = await scripted({
      'resources/read': async ({ uri }, signal) => {
        reads++;
        let answered = false;
        signal.addEventListener('abort', () => {
          if (!answered) aborted++;
        });
        if (uri === URI) await gate;
        else await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        answered = true;
        return { contents: [{ uri, text: 'text' }] };
      },
    });
    await using resources = client(server);
    await resources.connect();
    const abort = new AbortController();
    const three = [resources.read(URI), resources.read(URI, { signal: abort.signal }), resources.read(URI)];
    await until(() => reads === 1, 'the read');
    abort.abort(new Error('enough'));
    await expect(three[1]).rejects.toThrow('enough');
    release();
    expect((await three[0])?.primary?.text()).toBe('text');
    expect((await three[2])?.primary?.text()).toBe('text');
    expect([reads, aborted]).toEqual([1, 0]);

    const last = new AbortController();
    const alone = resources.read('doc:///two', { signal: last.signal });
    await until(() => reads === 2, 'the second read');
    last.abort(new Error('enough'));
    await expect(alone).rejects.toThrow('enough');
    // Over HTTP of the 2025 era, a request without a session cannot be cancelled.
    if (era === 'modern') await until(() => aborted === 1, 'the end of the request');
  });

  it('that are stale are revalidated by `lastModified`, and sent again only after a change', async () => {
    let lastModified = '2026-01-01T00:00:00Z';
    await using server = await scripted(
      counting({ ttlMs: 0, cacheScope: 'private' }, () => ({ size: 6, annotations: { lastModified } })),
    );
    await using resources = client(server);
    const read = async () => {
      const { from, primary } = await resources.read(URI);
      return [from, primary?.text()];
    };
    expect(await read()).toEqual(['server', 'read 1']);
    expect(await read()).toEqual(['revalidated', 'read 1']);
    lastModified = '2026-01-02T00:00:00Z';
    expect(await read()).toEqual(['server', 'read 2']);
    expect(server.count('resources/read')).toBe(2);
    expect((await resources.read(URI, { fresh: true })).from).toBe('server');
  });

  it('are limited in bytes: the least recently used ones are removed', async () => {
    await using server = await scripted({
      'resources/read': ({ uri }) => ({ contents: [{ uri, name: 'x', text: 'x'.repeat(1_000) }], ...FRESH }),
    });
    const store = memoryStore({ maxBytes: 10_000 });
    await using resources = client(server, { store });
    for (let at = 0; at < 20; at++) {
      await resources.read(`doc:///${at}`);
      await resources.read('doc:///0');
    }
    expect(store.bytes).toBeLessThanOrEqual(10_000);
    expect(store.size).toBeGreaterThan(1);
    expect(server.count('resources/read')).toBe(20);
    expect((await resources.read('doc:///19')).from).toBe('cache');
    expect((await resources.read('doc:///1')).from).toBe('server');
  });

  it('are requested again if the store fails', async () => {
    const fail = (): never => {
      throw new Error('disk full');
    };
    const store: CacheStore = { get: fail, set: fail, forget: fail };
    await using server = await scripted(counting(FRESH));
    await using resources = client(server, { store });
    expect([await textOf(resources), await textOf(resources)]).toEqual(['read 1', 'read 2']);
  });

  it('on disk are found by a later client with the same partition, and by no other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-store-'));
    try {
      await using server = await scripted(counting(FRESH));
      const mine = { partition: 'ann', server: 'docs' };
      for (const expected of ['server', 'cache'] as const) {
        const store = await diskStore(folder);
        await using resources = client(server, { ...mine, store });
        expect((await resources.read(URI)).from).toBe(expected);
        await store.close?.();
      }
      await using others = client(server, { partition: 'bob', server: 'docs', store: await diskStore(folder) });
      expect((await others.read(URI)).from).toBe('server');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe.each(MATRIX)('cached answers of Vitrine ($era over $transport)', ({ era, transport }) => {
  it('are removed when a change is reported [RES-4]', async () => {
    await using folder = await temporaryFolder({ 'a.txt': 'before', 'b.txt': 'other' });
    await using server = await connect(transport, era, [folder.path]);
    // Vitrine's answers are stale at once. `stubborn` makes them fresh, so only notifications make the client ask again.
    await using resources = createResourceClient(stubborn(server.client));
    await server.reachable;
    await using watch = resources.watch('file:///a.txt');
    await using list = resources.watchList();
    await within(Promise.all([watch.ready, list.ready]), 'the subscriptions');
    expect(await textOf(resources, 'file:///a.txt')).toBe('before');
    await resources.read('file:///b.txt');
    const listed = await all(resources.list('file:///'));
    expect((await resources.read('file:///a.txt')).from).toBe('cache');
    await folder.write('a.txt', 'after');
    await within(watch[Symbol.asyncIterator]().next(), 'the change');
    expect(await textOf(resources, 'file:///a.txt')).toBe('after');
    expect((await resources.read('file:///b.txt')).from).toBe('cache');
    await folder.write('c.txt', 'new');
    await within(list[Symbol.asyncIterator]().next(), 'the change of the list');
    expect(await all(resources.list('file:///'))).toHaveLength(listed.length + 1);
  });
});

/** The same client, with results that are fresh for a minute. */
function stubborn<T extends { request: unknown }>(client: T): T {
  const request = (client.request as (...args: unknown[]) => Promise<object>).bind(client);
  client.request = async (...args: unknown[]) => ({ ...(await request(...args)), ...FRESH });
  return client;
}

describe('a store on disk', () => {
  const key = { server: 's', partition: 'p', method: 'm', uri: '../../etc/passwd', part: '' };
  const entry = { value: { x: 'ü'.repeat(100) }, until: 5, validator: 'v' };

  async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'vitrine-store-'));
    try {
      await run(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  it('has file names that no server chooses', () =>
    withFolder(async (folder) => {
      const store = await diskStore(join(folder, 'new'));
      await store.set(key, entry);
      expect(await store.get(key)).toEqual(entry);
      const [name = '', ...others] = await readdir(join(folder, 'new'));
      expect(others).toEqual([]);
      expect(name).toMatch(/^[0-9a-f]{64}\.json$/);
    }));

  it('removes damaged and unknown files', () =>
    withFolder(async (folder) => {
      const store = await diskStore(folder);
      await store.set(key, entry);
      const [name = ''] = await readdir(folder);
      const text = await readFile(join(folder, name), 'utf8');
      await writeFile(join(folder, name), text.slice(0, -20));
      expect(await store.get(key)).toBeUndefined();
      await store.close?.();
      expect(await readdir(folder)).toEqual([]);
      await writeFile(join(folder, `${'a'.repeat(64)}.json`), text);
      await writeFile(join(folder, 'notes.txt'), 'mine');
      await diskStore(folder);
      expect(await readdir(folder)).toEqual(['notes.txt']);
    }));

  it('is limited in bytes, and removes what it is told to', () =>
    withFolder(async (folder) => {
      const store = await diskStore(folder, { maxBytes: 1_000 });
      for (let at = 0; at < 10; at++) await store.set({ ...key, uri: `${at}` }, entry);
      await store.close?.();
      expect((await readdir(folder)).length).toBeLessThan(4);
      expect(await store.get({ ...key, uri: '9' })).toEqual(entry);
      expect(await store.get({ ...key, uri: '0' })).toBeUndefined();
      await store.forget(({ uri }) => uri === '9');
      expect(await store.get({ ...key, uri: '9' })).toBeUndefined();
      await store.close?.();
      const again = await diskStore(folder);
      expect(await again.get({ ...key, uri: '9' })).toBeUndefined();
      expect(await again.get({ ...key, uri: '8' })).toEqual(entry);
    }));
});
