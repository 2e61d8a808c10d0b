/** Pages of an upstream that are cut, because they are longer than what is wanted: nothing lost where the list changes. */
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
  /** How often it was asked for a page. */
  asked: number;
}

/** Goes through a list that the server gives in one page; between two pages of ours, something happens. */
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
    between(page, () => lists.forget('resources'));
  }
  throw new Error('The list does not end');
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => named(index));

describe('[RES-6] a page that is cut', () => {
  it('is asked for once, and is given in pieces', async () => {
    const served = { all: numbered(95), asked: 0 };
    expect(await walk(served, () => {})).toEqual(numbered(95));
    expect(served.asked).toBe(1);
  });

  it('goes on behind what was given last, also when that is gone together with others before it', async () => {
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

  it('goes on behind what was given last, also when others came before it', async () => {
    const served = { all: numbered(30), asked: 0 };
    const given = await walk(served, (page, forget) => {
      if (page > 1) return;
      served.all = ['0000.new', '0001.new', ...served.all.filter((each) => each !== named(7))].toSorted();
      forget();
    });
    expect(given).toEqual(numbered(30));
  });

  it('goes on where it was when nothing is left of what was given', async () => {
    const served = { all: numbered(30), asked: 0 };
    const given = await walk(served, (page, forget) => {
      if (page === 1) served.all = served.all.slice(LIMIT);
      forget();
    });
    expect(given).toEqual(numbered(30));
  });

  it('shows what was there all the time exactly once, whatever comes and goes', async () => {
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
