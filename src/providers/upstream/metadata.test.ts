import { expect, it } from 'vitest';
import { type Context, createContext } from '../../core/context.ts';
import { createKnownResources } from './known.ts';
import { createMetadata, type EntryPage, type Metadata, type MetadataSetup } from './metadata.ts';

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
