import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContext } from '../context.ts';
import type { Page } from '../provider.ts';
import { fillPage, type ListedPage, MAX_LOOKED_AT } from './filtered-list.ts';

/** A list whose cursor is the last entry of the page before, with pages that may be short. */
function listOf(all: readonly number[], short: (at: number) => number) {
  const asked: Page[] = [];
  const list = async (page: Page): Promise<ListedPage<number>> => {
    asked.push(page);
    const start = page.cursor === undefined ? 0 : all.indexOf(Number(page.cursor)) + 1;
    const items = all.slice(start, start + Math.max(0, page.limit - short(start)));
    const end = start + items.length;
    const last = items.at(-1) ?? (start === 0 ? undefined : all[start - 1]);
    if (end >= all.length) return { items };
    // An empty page goes on where it was.
    return items.length === 0
      ? { items: all.slice(start, start + 1), nextCursor: `${all[start]}` }
      : { items, nextCursor: `${last}` };
  };
  return { list, asked };
}

describe('a filtered list', () => {
  it('has every entry that is kept, once, on full pages, and no page that is empty', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 10_000 }), { maxLength: 300 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 0, max: 6 }),
        async (all, limit, modulus, shortBy) => {
          const { list } = listOf(all, (at) => (at % 3 === 0 ? Math.min(shortBy, limit - 1) : 0));
          const keep = (item: number): number | undefined => (item % modulus === 0 ? item : undefined);
          const wanted = all.filter((item) => item % modulus === 0);
          const seen: number[] = [];
          let cursor: string | undefined;
          do {
            const page: ListedPage<number> = await fillPage(list, { cursor, limit }, keep, createContext());
            cursor = page.nextCursor;
            seen.push(...page.items);
            expect(page.items.length).toBe(Math.min(limit, wanted.length - seen.length + page.items.length));
          } while (cursor !== undefined);
          expect(seen).toEqual(wanted);
        },
      ),
    );
  });

  it('stops after MAX_LOOKED_AT entries, with a short page and a next cursor', async () => {
    const all = Array.from({ length: MAX_LOOKED_AT + 500 }, (_, index) => index);
    const { list, asked } = listOf(all, () => 0);
    const page = await fillPage(list, { limit: 100 }, () => undefined, createContext());
    expect(page.items).toEqual([]);
    expect(Number(page.nextCursor)).toBe(MAX_LOOKED_AT - 1);
    expect(asked.length).toBeLessThan(300);
  });

  it('keeps pages that are whole apart from those that are not', async () => {
    const pages: Record<string, ListedPage<string>> = {
      '': { items: ['a'], nextCursor: '1' },
      '1': { items: ['b'], whole: true, nextCursor: '2' },
      '2': { items: ['c'], whole: true },
    };
    const list = async ({ cursor = '' }: Page): Promise<ListedPage<string>> => pages[cursor] ?? { items: [] };
    const first = await fillPage(list, { limit: 10 }, (item) => item, createContext());
    expect(first).toEqual({ items: ['a'], whole: undefined, nextCursor: '1' });
    expect(await fillPage(list, { limit: 10, cursor: '1' }, (item) => item, createContext())).toEqual({
      items: ['b', 'c'],
      whole: true,
    });
  });
});
