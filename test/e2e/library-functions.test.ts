/** A program uses the engine by functions and by `fetch`, under the same rules and limits as a client. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createVitrine, defineProvider, type Layer, type TellChange, wrapProvider } from '../../src/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { ERAS } from './harness.ts';
import { until } from './waiting.ts';

const mode = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const;
const ADA = { id: 'ada', groups: ['curators'] };

const house = () =>
  memoryProvider({ resources: { 'hours.md': { text: '10 to 17' }, 'safe/code.md': { text: 'four digits' } } });

/** Everybody may see the resources outside of the safe, and curators may see all. */
const access = {
  rules: [
    { effect: 'allow', who: 'anyone', uris: ['house+memory:///', 'house+memory:///hours.md'] },
    { effect: 'allow', who: { groups: ['curators'] } },
  ],
} as const;

describe('mounts by name', () => {
  it('keep their order in the program, and their options', async () => {
    const plain = defineProvider({ scheme: 'poem', list: () => [{ uri: 'poem:rain' }], read: () => 'Rain' });
    await using vitrine = disposable(
      createVitrine({ mounts: { zebra: house(), poems: { provider: plain, prefix: 'none' } } }),
    );
    const uris: string[] = [];
    for await (const { uri } of vitrine.list()) uris.push(uri);
    expect(uris.at(0)).toMatch(/^zebra\+memory:/);
    expect(uris.at(1)).toBe('poem:rain');
    expect(vitrine.provider.features.schemes).toContain('poem');
  });

  it('are refused with the same errors as a list of mounts', () => {
    expect(() => createVitrine({ mounts: { 'No Name': house() } })).toThrow('A mount name starts with');
  });
});

describe('read, list and watch', () => {
  it('act for the given principal, and for an anonymous caller by default', async () => {
    await using vitrine = disposable(createVitrine({ mounts: { house: house() }, access }));
    const code = 'house+memory:///safe/code.md';
    await expect(vitrine.read(code)).rejects.toMatchObject({ code: 'denied' });
    expect(await vitrine.read(code, { principal: ADA })).toMatchObject([{ uri: code, text: 'four digits' }]);
    const listed = async (options?: { principal: typeof ADA }) => {
      const names: string[] = [];
      for await (const { name } of vitrine.list('house+memory:///', options)) names.push(name);
      return names;
    };
    expect(await listed()).toEqual(['hours.md']);
    expect(await listed({ principal: ADA })).toEqual(['safe', 'hours.md']);
    await expect(vitrine.watch(code, () => {})).rejects.toMatchObject({ code: 'denied' });
  });

  it('accept a window, give all pages, and stop at an abort', async () => {
    const resources = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`${at}.txt`, { text: `text ${at}` }]));
    await using vitrine = disposable(
      createVitrine({ mounts: { notes: memoryProvider({ resources }) }, limits: { pageSize: 2 } }),
    );
    expect(await vitrine.read('notes+memory:///3.txt', { range: { offset: 5, length: 1 } })).toMatchObject([
      { text: '3' },
    ]);
    let count = 0;
    for await (const _ of vitrine.list('notes+memory:///')) count++;
    expect(count).toBe(7);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(vitrine.read('notes+memory:///3.txt', { signal })).rejects.toThrow('enough');
    await expect(vitrine.list(undefined, { signal })[Symbol.asyncIterator]().next()).rejects.toThrow('enough');
  });

  it('count as requests: the rate of a principal applies', async () => {
    const limits = { rates: { principal: '2/min' } };
    await using vitrine = disposable(createVitrine({ mounts: { house: house() }, limits }));
    const uri = 'house+memory:///hours.md';
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => vitrine.read(uri, { principal: ADA })));
    const refused = results.filter((each) => each.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'limited' });
  });

  it.each([
    [{ range: { offset: -2, length: 3 } }, 'range.offset'],
    [{ range: { offset: 1.5 } }, 'range.offset'],
    [{ range: { offset: Number.NaN } }, 'range.offset'],
    [{ range: { length: 0 } }, 'range.length'],
    [{ accept: [] }, 'accept'],
  ])('refuse wrong options, as those of a client are: %j', async (options, named) => {
    await using vitrine = disposable(createVitrine({ mounts: { house: house() } }));
    const read = vitrine.read('house+memory:///hours.md', options);
    await expect(read).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(named) });
  });

  it('refuse a URI that is no text', async () => {
    await using vitrine = disposable(createVitrine({ mounts: { house: house() } }));
    for (const uri of ['', 7 as unknown as string]) {
      await expect(vitrine.read(uri)).rejects.toMatchObject({ code: 'invalid' });
      await expect(vitrine.list(uri)[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'invalid' });
      await expect(vitrine.watch(uri, () => {})).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it.each([new Error('secret'), new TypeError('x'), 'text', 42])(
    'fail as internal, with the error of the provider as the cause: %s',
    async (cause) => {
      const fail = (): never => {
        throw cause;
      };
      const provider = defineProvider({
        scheme: 'poem',
        list: (uri) => (uri === undefined ? [{ uri: 'poem:rain' }] : fail()),
        metadata: (uri) => ({ uri, ...(uri === 'poem:all' && { mimeType: 'inode/directory' }) }),
        read: fail,
        watch: fail,
      });
      await using vitrine = disposable(createVitrine({ mounts: { poems: { provider, prefix: 'none' } } }));
      const internal = { code: 'internal', message: expect.not.stringContaining('secret'), cause };
      await expect(vitrine.read('poem:rain')).rejects.toMatchObject(internal);
      await expect(vitrine.list('poem:all')[Symbol.asyncIterator]().next()).rejects.toMatchObject(internal);
      await expect(vitrine.watch('poem:rain', () => {})).rejects.toMatchObject({ code: 'internal' });
    },
  );

  it('end a watch when its signal aborts, and call back no more', async () => {
    const memory = house();
    await using vitrine = disposable(createVitrine({ mounts: { house: memory } }));
    const uri = 'house+memory:///hours.md';
    const leaving = new AbortController();
    let changes = 0;
    const watching = await vitrine.watch(uri, () => changes++, { signal: leaving.signal });
    let others = 0;
    await using _ = await vitrine.watch(uri, () => others++);
    memory.set('hours.md', { text: '11 to 17' });
    await until(() => changes === 1 && others === 1, 'the change');
    leaving.abort(new Error('enough'));
    memory.set('hours.md', { text: '12 to 17' });
    await until(() => others === 2, 'the next change');
    expect(changes).toBe(1);
    await watching[Symbol.asyncDispose]();
    const aborted = vitrine.watch(uri, () => changes++, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(aborted).rejects.toThrow('enough');
  });

  it('report changes until the handle is disposed; a provider may return any function that ends its watch', async () => {
    const listeners = new Set<TellChange>();
    const provider = defineProvider({
      scheme: 'poem',
      list: () => [{ uri: 'poem:rain' }],
      read: () => 'Rain',
      watch(tell) {
        listeners.add(tell);
        return () => listeners.delete(tell);
      },
    });
    await using vitrine = disposable(createVitrine({ mounts: { poems: provider } }));
    let changes = 0;
    const watching = await vitrine.watch('poems+poem:rain', () => changes++);
    for (const tell of listeners) tell('poem:rain');
    await until(() => changes === 1, 'the change');
    await watching[Symbol.asyncDispose]();
    await until(() => listeners.size === 0, 'the end of the watch');
  });
});

describe('mounts that are replaced', () => {
  it('are named like those of `createVitrine`, or a list', async () => {
    const old = house();
    await using vitrine = disposable(createVitrine({ replaceable: true, mounts: { old } }));
    const roots = async (): Promise<readonly string[]> => {
      const names: string[] = [];
      for await (const { uri } of vitrine.list()) names.push(uri.replace(/\+.*/, ''));
      return [...new Set(names)];
    };
    await vitrine.replaceMounts({ mounts: { next: { provider: house() } } });
    expect(await roots()).toEqual(['next']);
    await vitrine.replaceMounts({ mounts: [{ name: 'last', provider: house() }] });
    expect(await roots()).toEqual(['last']);
    await expect(vitrine.replaceMounts({ mounts: { 'No Name': house() } })).rejects.toMatchObject({ code: 'invalid' });
    expect(await roots()).toEqual(['last']);
  });

  it('have to be replaceable', async () => {
    await using vitrine = disposable(createVitrine({ mounts: { house: house() } }));
    await expect(vitrine.replaceMounts({ mounts: {} })).rejects.toThrow('make the Vitrine with replaceable: true');
  });
});

describe('layers of a program', () => {
  it('are inside of the rules, which decide about the resources that the layers read', async () => {
    const opening: Layer = (inner) =>
      wrapProvider(inner, { read: (_uri, want, ctx) => inner.read('house+memory:///safe/code.md', want, ctx) });
    await using vitrine = disposable(createVitrine({ mounts: { house: house() }, layers: [opening], access }));
    await expect(vitrine.read('house+memory:///hours.md')).rejects.toMatchObject({ code: 'denied' });
    expect(await vitrine.read('house+memory:///hours.md', { principal: ADA })).toMatchObject([{ text: 'four digits' }]);
  });
});

describe.each(ERAS)('fetch, %s', (era) => {
  it('serves a client without a network, for allowed hosts only', async () => {
    await using vitrine = disposable(
      createVitrine({ mounts: { house: house() }, endpoint: { allowedHosts: ['house.example'] } }),
    );
    const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: mode[era] });
    const fetch = async (input: string | URL | Request, init?: RequestInit) => vitrine.fetch(new Request(input, init));
    await client.connect(new StreamableHTTPClientTransport(new URL('https://house.example/mcp'), { fetch }));
    const { contents } = await client.readResource({ uri: 'house+memory:///hours.md' });
    expect(contents).toMatchObject([{ text: '10 to 17' }]);
    await client.close();
    const answer = await vitrine.fetch(new Request('https://elsewhere.example/mcp', { method: 'POST', body: '{}' }));
    expect(answer.status).toBe(403);
  });
});

/** Closed at the end of a block. */
function disposable<T extends { close(): Promise<void> }>(opened: T): T & AsyncDisposable {
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() });
}
