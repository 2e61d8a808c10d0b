/** The gateway cuts pages of an upstream that are longer than its own. No entry is lost if the list changes meanwhile. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import { createLists, type List } from '../../../src/providers/upstream/lists.ts';

const ctx = createContext();
const LIMIT = 8;

const named = (index: number): string => String(index).padStart(4, '0');

interface Served {
  /** All names of the server, in its order. */
  all: readonly string[];
  /** How often a page was requested from it. */
  asked: number;
}

/** Walks through a list that the server sends as one page. Runs a function between two pages of the gateway. */
async function walk(served: Served, between: (page: number, forget: () => void) => void): Promise<readonly string[]> {
  const lists = createLists('one');
  const given: string[] = [];
  let cursor: string | undefined;
  for (let page = 1; page < 1_000; page++) {
    const list: List = {
      key: 'resources',
      field: 'resources',
      idOf: (entry) => String(entry.uri),
      async fetch() {
        served.asked++;
        return { resources: served.all.map((uri) => ({ uri })) };
      },
      keep: async (all) => all as readonly { readonly uri: string }[],
    };
    const { entries, nextCursor } = await lists.page(list, { cursor, limit: LIMIT }, ctx);
    given.push(...entries.map((entry) => String(entry.uri)));
    if (nextCursor === undefined) return given;
    cursor = nextCursor;
    between(page, () => lists.forget((key) => key === 'resources'));
  }
  throw new Error('The list does not end');
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => named(index));

describe('[RES-6] a page that is cut', () => {
  it('is requested once, and given in pieces', async () => {
    const served = { all: numbered(95), asked: 0 };
    expect(await walk(served, () => {})).toEqual(numbered(95));
    expect(served.asked).toBe(1);
  });

  it('continues after the last given entry, even if that and others before it were removed', async () => {
    const served = { all: numbered(30), asked: 0 };
    const gone = [0, 1, 2, 3, 6, 7].map(named);
    const given = await walk(served, (page, forget) => {
      if (page > 1) return;
      served.all = served.all.filter((each) => !gone.includes(each));
      forget();
    });
    expect(given).toEqual(numbered(30));
    expect(served.asked).toBe(2);
  });

  it('continues after the last given entry, even if others were added before it', async () => {
    const served = { all: numbered(30), asked: 0 };
    const given = await walk(served, (page, forget) => {
      if (page > 1) return;
      served.all = ['0000.new', '0001.new', ...served.all.filter((each) => each !== named(7))].toSorted();
      forget();
    });
    expect(given).toEqual(numbered(30));
  });

  it('continues at its position if every given entry was removed', async () => {
    const served = { all: numbered(30), asked: 0 };
    const given = await walk(served, (page, forget) => {
      if (page === 1) served.all = served.all.slice(LIMIT);
      forget();
    });
    expect(given).toEqual(numbered(30));
  });

  it('shows every entry that is there all the time exactly once, whatever is added and removed', async () => {
    const change = fc.record({
      gone: fc.array(fc.nat(79), { maxLength: 7 }),
      come: fc.array(fc.nat(79), { maxLength: 7 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const served = { all: numbered(80).filter((_, index) => index % 2 === 0), asked: 0 };
        let staying = served.all;
        const given = await walk(served, (page, forget) => {
          const { gone = [], come = [] } = changes[page - 1] ?? {};
          const left = served.all.filter((each) => !gone.includes(Number(each.slice(0, 4))));
          staying = staying.filter((each) => left.includes(each));
          served.all = [...new Set([...left, ...come.map((index) => `${named(index)}.${page}`)])].toSorted();
          forget();
        });
        expect(new Set(given).size).toBe(given.length);
        expect(given).toEqual(expect.arrayContaining([...staying]));
      }),
    );
  });
});
