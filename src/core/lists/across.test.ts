import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ctx,
  drain,
  failing,
  limits,
  numbered,
  OWN,
  type SourceParts,
  shapes,
  sourceOf,
} from '../../../test/lists/sources.ts';
import { type Context, type Log, SILENT } from '../context.ts';
import { ResourceError, type ResourceErrorCode } from '../errors.ts';
import { createNotes } from '../notes.ts';
import { type ListSource, pageAcross } from './across.ts';

describe('a list over several sources', () => {
  it('loses and repeats nothing, in pages of any size, with sources whose pages have any size', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, limits, async (shape, limit) => {
        const sources = shape.map(({ count, ...parts }, index) =>
          sourceOf(`s${index}`, numbered(`s${index}`, count), parts),
        );
        const { items, pages } = await drain(sources, limit);
        expect(items).toEqual(shape.flatMap(({ count }, index) => numbered(`s${index}`, count)));
        for (const { items: shown, whole } of pages) {
          const kinds = new Set(shown.map((each) => shape[Number(each.slice(1, each.indexOf('-')))]?.whole));
          expect(kinds.size, 'a page is of one kind').toBeLessThanOrEqual(1);
          if (shown.length > 0) expect(whole).toBe([...kinds][0]);
        }
      }),
    );
  });

  it('shows each entry that stays exactly once while others come and go', async () => {
    const change = fc.record({ source: fc.nat(2), entry: fc.nat(14), create: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 }),
        limits,
        async (changes, limit) => {
          const sets = ['a', 'b', 'c'].map((name) => new Set(numbered(name, 15).filter((_, index) => index % 2 === 0)));
          const now = (): string[] => sets.flatMap((set) => [...set]);
          let staying = new Set(now());
          const sources = sets.map((set, index) => sourceOf(`s${index}`, set));
          const { items } = await drain(sources, limit, (page) => {
            for (const { source, entry, create } of changes[page - 1] ?? []) {
              const name = numbered(['a', 'b', 'c'][source] ?? '', 15)[entry] ?? '';
              if (create) sets[source]?.add(name);
              else sets[source]?.delete(name);
              staying = new Set([...staying].filter((each) => now().includes(each)));
            }
            return undefined;
          });
          expect(new Set(items).size).toBe(items.length);
          expect(items).toEqual(expect.arrayContaining([...staying]));
        },
      ),
    );
  });

  it('goes on if other sources come and go, and fails if the source of its cursor is gone', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => sourceOf(name, numbered(name, 4))) as [
      ListSource<string>,
      ListSource<string>,
      ListSource<string>,
    ];
    const early = sourceOf('early', ['never shown']);
    const late = sourceOf('late', ['late-000']);
    const { items } = await drain([a, b, c], 6, (page) => (page === 1 ? [early, b, late] : undefined));
    expect(items).toEqual([...numbered('a', 4), ...numbered('b', 4), 'late-000']);
    await expect(drain([a, b, c], 6, () => [a, c])).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('a mount that is gone'),
    });
  });

  it('goes on in a source whose name is empty', async () => {
    const sources = [sourceOf('', numbered('own', 3)), sourceOf('x', numbered('x', 3))];
    expect((await drain(sources, 2)).items).toEqual([...numbered('own', 3), ...numbered('x', 3)]);
  });

  it('is empty without sources', async () => {
    expect(await pageAcross([], { limit: 1 }, ctx)).toEqual({ items: [] });
  });

  it('asks each source for the rest of the page, with all options of the list', async () => {
    const asked: unknown[] = [];
    const asking = (name: string, items: readonly string[]): ListSource<string> => ({
      name,
      remote: false,
      list: async (page) => {
        asked.push(page);
        return { items };
      },
    });
    await pageAcross([asking('a', ['1', '2']), asking('b', ['3'])], { limit: 5, containersOnly: true }, ctx);
    expect(asked).toEqual([
      { limit: 5, cursor: undefined, containersOnly: true },
      { limit: 3, cursor: undefined, containersOnly: true },
    ]);
  });

  it.each([
    'x',
    '',
    '{}',
    '1',
    'null',
    '[]',
    '[1]',
    '["a",1]',
    '["a",null,"b"]',
    '["a",null,[],1]',
    '["gone"]',
    '["a',
    '[["a"]]',
  ])('refuses the cursor %s, which is not one of its own', async (cursor) => {
    const sources = [sourceOf('a', ['1'])];
    await expect(pageAcross(sources, { cursor, limit: 1 }, ctx)).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('remote sources with little in them', () => {
  /** Makes sources that each give their page when `answer` is called. */
  function waiting(count: number) {
    const asked = new Map<string, { readonly ctx: Context; readonly limit: number; answer(): void }>();
    const sources = numbered('source', count).map(
      (name): ListSource<string> => ({
        name,
        remote: true,
        list: ({ limit }, ctx) =>
          new Promise((resolve) => {
            const items = numbered(name, 2);
            asked.set(name, { ctx, limit, answer: () => resolve({ items: items.slice(0, limit) }) });
          }),
      }),
    );
    return { asked, sources };
  }
  const settle = (): Promise<void> => new Promise(setImmediate);

  it('are asked several at once, more and more of them, and are listed in their order', async () => {
    const { asked, sources } = waiting(50);
    const listing = pageAcross(sources, { limit: 1_000 }, ctx);
    const rounds: number[] = [];
    for (let answered = 0; answered < 50; await settle()) {
      rounds.push(asked.size - answered);
      answered = asked.size;
      for (const each of [...asked.values()].reverse()) each.answer();
    }
    expect(rounds).toEqual([1, 2, 4, 8, 16, 16, 3]);
    const { items } = await listing;
    expect(items).toEqual(sources.flatMap(({ name }) => numbered(name, 2)));
  });

  it('are asked only a few ahead; if the page is full before their turn, these requests are aborted', async () => {
    const { asked, sources } = waiting(50);
    const listing = pageAcross(sources, { limit: 3 }, ctx);
    for (let answered = 0; answered < asked.size; await settle()) {
      answered = asked.size;
      for (const each of asked.values()) each.answer();
    }
    // The second source gave one entry more than there is room for, so it is asked again.
    asked.get('source-001')?.answer();
    const { items, nextCursor } = await listing;
    expect(items).toHaveLength(3);
    expect(nextCursor).toBeDefined();
    expect([...asked.keys()]).toEqual(['source-000', 'source-001', 'source-002']);
    expect(asked.get('source-001')).toMatchObject({ limit: 1 });
    expect(asked.get('source-002')?.ctx.signal.aborted).toBe(true);
  });

  it('are not asked before their turn where a source is as long as the page', async () => {
    const before: string[] = [];
    const note = (name: string): SourceParts => ({ before: () => void before.push(name) });
    const sources = [sourceOf('a', numbered('a', 9), note('a')), sourceOf('b', numbered('b', 9), note('b'))];
    await pageAcross(sources, { limit: 5 }, ctx);
    expect(before).toEqual(['a']);
  });
});

describe('a page that is whole', () => {
  it('ends before entries that are not whole, and the other way round', async () => {
    const sources = [
      sourceOf('a', numbered('a', 2), { whole: true }),
      sourceOf('empty', [], {}),
      sourceOf('b', numbered('b', 2), { whole: true }),
      sourceOf('c', numbered('c', 2), {}),
      sourceOf('d', numbered('d', 2), { whole: true }),
    ];
    const { pages } = await drain(sources, 100);
    expect(pages.map(({ items, whole }) => [items.length, whole])).toEqual([
      [4, true],
      [2, undefined],
      [2, true],
    ]);
  });

  it('has no notes of the source that has to wait for the next page', async () => {
    const noting = (name: string, whole: boolean): ListSource<string> =>
      sourceOf(name, [name], { whole, before: (_cursor, { notes }) => notes?.passOn({ [name]: true }) });
    const notes = createNotes();
    const page = await pageAcross([noting('a', true), noting('b', false)], { limit: 9 }, { ...ctx, notes });
    expect(notes.finish({ items: page.items }, OWN)).toEqual({ items: ['a'], a: true, ...OWN });
  });
});

describe('a source that fails', () => {
  const CODES: readonly ResourceErrorCode[] = ['not-found', 'denied', 'invalid', 'limited', 'internal'];
  const AWAY: readonly ResourceErrorCode[] = ['unavailable', 'timeout'];
  const around = (source: ListSource<string>): ListSource<string>[] => [
    sourceOf('a', numbered('a', 3)),
    source,
    sourceOf('b', numbered('b', 3)),
  ];
  const others = [...numbered('a', 3), ...numbered('b', 3)];

  it.each([...CODES, ...AWAY])(
    'with %s is left out where it is remote, and the answer and the log say so',
    async (code) => {
      const warned: unknown[] = [];
      const log: Log = { ...SILENT, warn: (_message, fields) => void warned.push(fields) };
      const source = failing(new ResourceError(code, 'Not now'));
      for (const limit of [1, 2, 3, 4, 100]) {
        const { items, missing } = await drain(around(source), limit);
        expect(items).toEqual(others);
        expect(missing).toEqual([{ mount: 'failing', reason: 'Not now' }]);
      }
      await pageAcross(around(source), { limit: 9 }, { ...ctx, log });
      expect(warned).toEqual([{ mount: 'failing', reason: 'Not now' }]);
    },
  );

  it.each(AWAY)('with %s is left out also where it is not remote', async (code) => {
    const { items, missing } = await drain(around(failing(new ResourceError(code, 'Away'), { remote: false })), 2);
    expect(items).toEqual(others);
    expect(missing).toHaveLength(1);
  });

  it.each(CODES)('with %s fails the list where it is not remote', async (code) => {
    const error = new ResourceError(code, 'Wrong');
    await expect(drain(around(failing(error, { remote: false })), 9)).rejects.toBe(error);
  });

  it('with a bug fails the list, also if it throws synchronously', async () => {
    const bug = new TypeError('a bug');
    await expect(drain(around(failing(bug)), 9)).rejects.toBe(bug);
    const thrown: ListSource<string> = {
      name: 'thrown',
      remote: true,
      list() {
        throw bug;
      },
    };
    await expect(drain(around(thrown), 9)).rejects.toBe(bug);
  });

  it('fails the list with its error if it is the only source', async () => {
    for (const code of [...CODES, ...AWAY]) {
      const error = new ResourceError(code, 'Not now');
      await expect(drain([failing(error)], 1)).rejects.toBe(error);
    }
  });

  it('in the middle keeps what it has shown, and the rest goes on', async () => {
    const source = sourceOf('failing', numbered('f', 5), {
      before(cursor) {
        if (cursor === 'f-001') throw new ResourceError('unavailable', 'Gone away');
      },
    });
    const { items, missing } = await drain(around(source), 5);
    expect(items).toEqual([...numbered('a', 3), 'f-000', 'f-001', ...numbered('b', 3)]);
    expect(missing).toEqual([{ mount: 'failing', reason: 'Gone away' }]);
  });

  it('leaves nothing else in the notes', async () => {
    const notes = createNotes();
    const source = sourceOf('failing', [], {
      before(_cursor, { notes: noted }) {
        noted?.passOn({ half: 'done' });
        throw new ResourceError('unavailable', 'Away');
      },
    });
    await pageAcross([source, sourceOf('b', ['b'])], { limit: 1 }, { ...ctx, notes });
    expect(notes.finish({}, OWN)).toEqual({
      _meta: { 'vitrine/missing': [{ mount: 'failing', reason: 'Away' }] },
      ttlMs: 0,
      cacheScope: 'public',
    });
  });

  it('because its caller is gone fails the list with that', async () => {
    const caller = new AbortController();
    const gone = new ResourceError('unavailable', 'The caller is gone');
    const source = sourceOf('failing', [], {
      before(_cursor, { signal }) {
        caller.abort(gone);
        signal.throwIfAborted();
      },
    });
    const listing = pageAcross(around(source), { limit: 9 }, { ...ctx, signal: caller.signal });
    await expect(listing).rejects.toBe(gone);
  });
});
