import { describe, expect, it } from 'vitest';
import type { Data } from '../../connection/data.ts';
import { createContext } from '../../core/context.ts';
import { createNotes } from '../../core/notes.ts';
import { createCoalescing } from './coalescing.ts';
import { createLists, type Fetch, type FetchedPage, type KeepValid, type List } from './lists.ts';

const idOf = (entry: Data): string => String(entry.id);
const entry = (id: number): Data => ({ id });
const keep: KeepValid = async (entries) =>
  entries.filter((each): each is Data => typeof each === 'object' && each !== null);

const things = (fetch: Fetch): List => ({ key: 'things', field: 'things', idOf, fetch, keep });

/** Follows a list to its end. */
async function drain(fetch: Fetch, limit: number, change: (page: number) => void = () => {}) {
  const lists = createLists('up');
  const notes = createNotes();
  const ctx = createContext({ notes });
  const ids: unknown[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await lists.page(things(fetch), { cursor, limit }, ctx);
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.nextCursor;
    change(++pages);
    if (pages > 100) throw new Error('the pages do not end');
  } while (cursor !== undefined);
  const { _meta } = notes.finish<{ _meta?: Data }>({}, { ttlMs: 0, cacheScope: 'private' });
  return { ids, pages, missing: _meta?.['vitrine/missing'] };
}

describe('the lists of an upstream', () => {
  it('are cut if a page is longer than requested, and each page is requested once', async () => {
    let asked = 0;
    const fetch: Fetch = async () => {
      asked++;
      return { things: [1, 2, 3, 4, 5].map(entry) };
    };
    expect(await drain(fetch, 2)).toEqual({ ids: [1, 2, 3, 4, 5], pages: 3, missing: undefined });
    expect(asked).toBe(1);
  });

  it.each([1, 2, 3])('end at a repeated cursor, and say so: a loop of %i', async (length) => {
    const fetch: Fetch = async (cursor) => {
      const at = cursor === undefined ? 0 : Number(cursor);
      return { things: [entry(at)], nextCursor: String((at % length) + 1) };
    };
    const { ids, missing } = await drain(fetch, 10);
    expect(ids).toEqual(Array.from({ length: length + 1 }, (_, index) => index));
    expect(missing).toEqual([{ mount: 'up', reason: expect.stringContaining('repeats a cursor') }]);
  });

  it('end with an empty cursor', async () => {
    expect(await drain(async () => ({ things: [entry(1)], nextCursor: '' }), 10)).toMatchObject({ ids: [1], pages: 1 });
  });

  it('that change meanwhile continue after the last given entry', async () => {
    let ids = [1, 2, 3, 4];
    const lists = createLists('up');
    const ctx = createContext();
    const page = (cursor?: string) =>
      lists.page(
        things(async () => ({ things: ids.map(entry) })),
        { cursor, limit: 2 },
        ctx,
      );
    const first = await page();
    ids = [0, 1, 2, 3, 4];
    lists.forget((key) => key === 'things');
    const second = await page(first.nextCursor);
    expect(second.entries).toEqual([entry(3), entry(4)]);
    // The last given entry is gone, so the list continues at its position.
    ids = [1, 3, 4];
    lists.forget((key) => key === 'things');
    expect((await page(first.nextCursor)).entries).toEqual([entry(3), entry(4)]);
  });

  it.each([true, false])(
    'keep no page that was requested before a change: shared with other callers: %s',
    async (shared) => {
      let ids = [1, 2, 3, 4];
      const lists = createLists('up');
      let fetched = (): void => {};
      const begun = new Promise<void>((resolve) => {
        fetched = resolve;
      });
      let answer = (_ids: readonly number[]): void => {};
      const fetch: Fetch = async () => {
        const given = new Promise<readonly number[]>((resolve) => {
          answer = resolve;
        });
        fetched();
        return { things: (await given).map(entry) };
      };
      const list = { ...things(fetch), ...(shared && { fetching: createCoalescing<FetchedPage<Data>>() }) };
      const ctx = createContext();
      const page = lists.page(list, { cursor: undefined, limit: 2 }, ctx);
      await begun;
      lists.forget((key) => key === 'things');
      answer(ids);
      const { entries, nextCursor } = await page;
      expect(entries).toEqual([entry(1), entry(2)]);
      ids = [2, 5];
      const rest = lists.page(list, { cursor: nextCursor, limit: 2 }, ctx);
      await new Promise(setImmediate);
      answer(ids);
      expect((await rest).entries).toEqual([entry(5)]);
    },
  );

  it('keep a cut page for callers with the same principal and capabilities only', async () => {
    const lists = createLists('up');
    const callers = {
      neither: {},
      sampling: { sampling: {} },
      elicitation: { elicitation: {} },
      both: { sampling: {}, elicitation: {} },
      extension: { extensions: { 'com.example/x': {} } },
    };
    const contexts = Object.entries(callers).map(([name, declared]) => ({
      name,
      ctx: createContext({ client: { sampling: false, elicitation: false, roots: false, declared } }),
    }));
    contexts.push({ name: 'eve', ctx: createContext({ principal: { id: 'eve' } }) });
    const fetched: string[] = [];
    const fetch: Fetch = async (_cursor, { client, principal }) => {
      const own = Object.entries(callers).find(([, declared]) => declared === client?.declared)?.[0] ?? principal.id;
      fetched.push(own);
      return { things: [1, 2, 3].map((number) => ({ id: `${own} ${number}` })) };
    };
    const list = { ...things(fetch), fetching: createCoalescing<FetchedPage<Data>>() };
    const cursors = new Map<string, string | undefined>();
    for (const page of [1, 2, 3])
      for (const { name, ctx } of contexts) {
        const { entries, nextCursor } = await lists.page(list, { cursor: cursors.get(name), limit: 1 }, ctx);
        expect(entries).toEqual([{ id: `${name} ${page}` }]);
        cursors.set(name, nextCursor);
      }
    // Each page was fetched once for each caller.
    expect(fetched).toEqual(contexts.map(({ name }) => name));
  });

  it.each([{}, { things: 'no' }, { things: { id: 1 } }])('that are invalid are refused: %o', async (result) => {
    await expect(drain(async () => result, 10)).rejects.toMatchObject({ code: 'internal' });
  });

  it('leave out invalid entries', async () => {
    expect(await drain(async () => ({ things: [null, 7, entry(1)] }), 10)).toMatchObject({ ids: [1] });
  });

  it.each(['', '{}', '[]', '[7,null,[]]', 'forged'])('refuse an unknown cursor: %j', async (cursor) => {
    const page = createLists('up').page(
      things(async () => ({ things: [] })),
      { cursor, limit: 1 },
      createContext(),
    );
    await expect(page).rejects.toMatchObject({ code: 'invalid' });
  });
});
