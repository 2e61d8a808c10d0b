import { describe, expect, it } from 'vitest';
import { type Context, createContext } from '../../core/context.ts';
import { PeerError } from '../../core/errors.ts';
import { createBorder } from './border/index.ts';
import { createKnownResources } from './known.ts';
import { createLists } from './lists.ts';
import { createMetadata, type EntryPage, type Metadata, type MetadataSetup } from './metadata.ts';
import { type ResourcesSetup, resourcesProvider } from './resources.ts';

/** Makes the metadata of a server that has only this list. */
function metadataOf(list: (ctx: Context) => EntryPage | Promise<EntryPage>, known = createKnownResources()): Metadata {
  const setup = {
    name: 'up',
    facts: () => ({ tellsResources: false }),
    connections: { of: async () => ({ known, supervisor: {} }) },
    list: async (_page: unknown, ctx: Context) => list(ctx),
  } as unknown as MetadataSetup;
  return createMetadata(setup);
}

const turn = (): Promise<void> => new Promise(setImmediate);

it('the search in the list of a server ends if its pages are empty and endless', async () => {
  let asked = 0;
  const endless = (): EntryPage => {
    if (++asked > 30_000) throw new Error('the search does not end');
    return { entries: [], nextCursor: String(asked) };
  };
  expect(await metadataOf(endless).isListed('x:a', createContext())).toBe(false);
  expect(asked).toBeLessThan(21_000);
});

it('the search in the list of a server continues after some empty pages', async () => {
  let asked = 0;
  const late = (): EntryPage =>
    ++asked < 100
      ? { entries: [], nextCursor: String(asked) }
      : { entries: [{ uri: 'x:a', name: 'a' }], nextCursor: undefined };
  expect(await metadataOf(late).isListed('x:a', createContext())).toBe(true);
});

it('the search in the list of a server ends when all who wait for it have left, but not before', async () => {
  const given: ((page: EntryPage) => void)[] = [];
  let signal = new AbortController().signal;
  const metadata = metadataOf((ctx) => {
    ({ signal } = ctx);
    signal.throwIfAborted();
    return new Promise((resolve) => given.push(resolve));
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const gone = metadata.isListed('x:a', createContext({ signal: first.signal }));
  const goneToo = metadata.isListed('x:a', createContext({ signal: second.signal }));
  await turn();
  first.abort(new Error('gone'));
  await expect(gone).rejects.toThrow('gone');
  given[0]?.({ entries: [], nextCursor: '1' });
  await turn();
  expect(given).toHaveLength(2);
  expect(signal.aborted).toBe(false);
  second.abort(new Error('gone too'));
  await expect(goneToo).rejects.toThrow('gone too');
  expect(signal.aborted).toBe(true);
  given[1]?.({ entries: [], nextCursor: '2' });
  await turn();
  expect(given).toHaveLength(2);

  const next = metadata.isListed('x:a', createContext());
  await turn();
  given[2]?.({ entries: [{ uri: 'x:a', name: 'a' }], nextCursor: undefined });
  expect(await next).toBe(true);
});

it('the search in the list of a server begins anew after a change, for later callers only', async () => {
  const known = createKnownResources();
  const given: ((page: EntryPage) => void)[] = [];
  const metadata = metadataOf(() => new Promise((resolve) => given.push(resolve)), known);
  const isListed = async (uri: string): Promise<boolean> => metadata.isListed(uri, createContext());
  const before = ['x:a', 'x:b', 'x:c'].map(isListed);
  await turn();
  given[0]?.({ entries: [{ uri: 'x:a' }], nextCursor: '1' });
  await turn();
  known.clear();
  const after = ['x:a', 'x:d'].map(isListed);
  await turn();
  given[1]?.({ entries: [{ uri: 'x:b' }], nextCursor: undefined });
  expect(await Promise.all(before)).toEqual([true, true, false]);
  // The list has not been read as a whole since the change.
  expect(known.whole).toBe(false);
  given[2]?.({ entries: [{ uri: 'x:d' }], nextCursor: undefined });
  expect(await Promise.all(after)).toEqual([false, true]);
  expect(known.whole).toBe(true);
  expect(given).toHaveLength(3);
});

describe('a description that was requested before a change', () => {
  const LISTABLE = { uri: 'x:a', name: 'a', capabilities: { list: true } };
  /** The server has no method for metadata, and its default list has only this folder. */
  const inList = { 'resources/list': { resources: [LISTABLE] } };
  const inMetadata = { 'resources/metadata': { resource: LISTABLE }, 'resources/list': { resources: [] } };

  /** Makes the resources of a server with these answers. A change arrives while the method in `during` is being answered. */
  function served(answers: Readonly<Record<string, object>>, during: string) {
    const known = createKnownResources();
    const lists = createLists('up');
    const sent: string[] = [];
    let changes = 1;
    const view = { known, lists, supervisor: { current: {} } };
    const setup = {
      name: 'up',
      facts: () => ({ reached: true, resources: true, tellsResources: true }),
      border: createBorder('up'),
      connections: { of: async () => view, here: async () => {} },
      asking: {
        async ask(method: string, _key: string, params: { readonly uri?: string }) {
          sent.push(params.uri === undefined ? method : `${method} ${params.uri}`);
          await turn();
          if (method === during && changes-- > 0) known.clear();
          const answer = method === 'resources/list' && params.uri !== undefined ? CHILDREN : answers[method];
          if (answer === undefined) throw new PeerError({ code: -32601, message: 'Unknown method' });
          return answer;
        },
      },
    } as unknown as ResourcesSetup;
    return { provider: resourcesProvider(setup), known, sent };
  }
  const CHILDREN = { resources: [{ uri: 'x:a/1', name: '1' }] };

  it.each([
    ['in its metadata', inMetadata, 'resources/metadata'],
    ['in its list', inList, 'resources/list'],
  ])(
    'answers those who wait, who then get the children as the server lists them, and is not kept: %s',
    async (...row) => {
      const [, answers, during] = row;
      const { provider, known, sent } = served(answers, during);
      // A read of a folder gives its children as contents: another way to list them, for servers without a better one.
      known.learnSeveral('x:a', true);
      const page = await provider.list('x:a', { cursor: undefined, limit: 10 }, createContext());
      expect(page.resources.map(({ uri }) => uri)).toEqual(['x:a/1']);
      expect(sent.at(-1)).toBe('resources/list x:a');
      expect(known.get('x:a')).toBeUndefined();

      await provider.metadata('x:a', createContext());
      expect(known.get('x:a')).toMatchObject(LISTABLE);
    },
  );

  it('says to a read that waits whether the resource has children, and is not kept', async () => {
    const first = { uri: 'x:a/1', text: 'one' };
    const { provider, known, sent } = served(
      { ...inMetadata, 'resources/read': { contents: [first] } },
      'resources/metadata',
    );
    const read = () => provider.read('x:a', { maxBytes: 1_000, maxChildren: 10 }, createContext());
    expect((await read()).map(({ resource }) => resource.uri)).toEqual(['x:a/1']);
    expect(known.get('x:a')).toBeUndefined();
    await read();
    await read();
    expect(sent.filter((each) => each.startsWith('resources/metadata'))).toHaveLength(2);
    expect(known.get('x:a')).toMatchObject(LISTABLE);
  });

  it('does not take the place of one that was requested after the change', async () => {
    const known = createKnownResources();
    const given: ((answer: object) => void)[] = [];
    const setup = {
      name: 'up',
      facts: () => ({ reached: true, resources: true, tellsResources: true }),
      border: createBorder('up'),
      connections: { of: async () => ({ known, supervisor: { current: {} } }) },
      asking: { ask: () => new Promise((resolve) => given.push(resolve)) },
    } as unknown as MetadataSetup;
    const metadata = createMetadata(setup);
    const described = (list: boolean) => ({ resource: { ...LISTABLE, capabilities: { list } } });
    const early = metadata.saysListable('x:a', createContext());
    await turn();
    known.clear();
    const late = metadata.saysListable('x:a', createContext());
    await turn();
    given[1]?.(described(false));
    expect(await late).toBe(false);
    given[0]?.(described(true));
    expect(await early).toBe(true);
    expect(await metadata.saysListable('x:a', createContext())).toBe(false);
    expect(given).toHaveLength(2);
  });
});
