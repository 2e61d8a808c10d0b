import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Context, createContext, type Log, SILENT } from '../context.ts';
import { ResourceError, type ResourceErrorCode } from '../errors.ts';
import { createNotes, type MissingPart } from '../notes.ts';
import { type ListSource, PATIENCE_MS, pageAcross } from './across.ts';

const ctx = createContext();
const OWN = { ttlMs: 7, cacheScope: 'public' } as const;

interface SourceParts {
  readonly remote?: boolean;
  readonly whole?: boolean;
  /** The most entries of one page, whatever is asked for. */
  readonly most?: number;
  /** Runs before each page; what it throws is the page's failure. */
  readonly before?: (cursor: string | undefined, ctx: Context) => Promise<void> | void;
}

/** A source whose cursor is the last entry that was shown, so that entries may come and go. */
function sourceOf(name: string, entries: Iterable<string>, parts: SourceParts = {}): ListSource<string> {
  const { remote = true, whole, most = Number.POSITIVE_INFINITY, before } = parts;
  return {
    name,
    remote,
    async list({ cursor, limit }, context) {
      await before?.(cursor, context);
      const rest = [...entries].sort().filter((each) => cursor === undefined || each > cursor);
      const items = rest.slice(0, Math.min(limit, most));
      return { items, whole, nextCursor: rest.length > items.length ? items.at(-1) : undefined };
    },
  };
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(3, '0')}`);

const failing = (error: unknown, parts: SourceParts = {}): ListSource<string> =>
  sourceOf('failing', [], {
    ...parts,
    before() {
      throw error;
    },
  });

interface Drained {
  readonly items: readonly string[];
  readonly pages: readonly { readonly items: readonly string[]; readonly whole?: boolean | undefined }[];
  readonly missing: readonly MissingPart[];
}

async function drain(
  sources: readonly ListSource<string>[],
  limit: number,
  between: (page: number) => readonly ListSource<string>[] | undefined = () => undefined,
): Promise<Drained> {
  const pages: Drained['pages'][number][] = [];
  const missing: MissingPart[] = [];
  let cursor: string | undefined;
  let now = sources;
  for (let count = 1; count < 2_000; count++) {
    const notes = { ...createNotes(), missing: (part: MissingPart) => void missing.push(part) };
    const page = await pageAcross(now, { cursor, limit }, { ...ctx, notes });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    pages.push(page);
    cursor = page.nextCursor;
    if (cursor === undefined) return { items: pages.flatMap(({ items }) => items), pages, missing };
    now = between(count) ?? now;
  }
  throw new Error('The list does not end');
}

/** Counts and page sizes of any sources. */
const shapes = fc.array(
  fc.record({ count: fc.nat(9), most: fc.integer({ min: 1, max: 5 }), remote: fc.boolean(), whole: fc.boolean() }),
  { maxLength: 6 },
);
const limits = fc.integer({ min: 1, max: 12 });

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

  it('shows what was there all the time exactly once while entries come and go', async () => {
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

  it('goes on beside sources that came and went, and says when its own is gone', async () => {
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

  it('has the sources’ own words in its cursor, an empty name too', async () => {
    const sources = [sourceOf('', numbered('own', 3)), sourceOf('x', numbered('x', 3))];
    expect((await drain(sources, 2)).items).toEqual([...numbered('own', 3), ...numbered('x', 3)]);
  });

  it('is empty without sources', async () => {
    expect(await pageAcross([], { limit: 1 }, ctx)).toEqual({ items: [] });
  });

  it('asks each source for what is left of the page, and with all that was asked of the list', async () => {
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
  ])('refuses the cursor %s, which is not one of it', async (cursor) => {
    const sources = [sourceOf('a', ['1'])];
    await expect(pageAcross(sources, { cursor, limit: 1 }, ctx)).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('remote sources with little in them', () => {
  /** Each gives its page when it is told to. */
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

  it('are asked at once, more and more of them, and are listed in their order', async () => {
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

  it('are left alone where the page is full before their turn', async () => {
    const { asked, sources } = waiting(50);
    const listing = pageAcross(sources, { limit: 3 }, ctx);
    for (let answered = 0; answered < asked.size; await settle()) {
      answered = asked.size;
      for (const each of asked.values()) each.answer();
    }
    // The second one has an entry more than there is room for: it is asked again.
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
  it('ends before what is not, and the other way round', async () => {
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

  it('leaves nothing in its notes of the source that has to wait for the next', async () => {
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

  it('with a bug fails the list, and so does what it throws at once', async () => {
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

  it('is the answer where it is the only one', async () => {
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

describe('a source that is slow', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Answers after so many milliseconds; ends when it is no longer wanted. */
  const slowly = (
    name: string,
    count: number,
    delays: number | ((cursor: string | undefined) => number),
    parts = {},
  ) => {
    const given: Context[] = [];
    const source = sourceOf(name, numbered(name, count), {
      ...parts,
      before(cursor, context) {
        given.push(context);
        return new Promise((resolve, reject) => {
          const timer = setTimeout(resolve, typeof delays === 'number' ? delays : delays(cursor));
          context.signal.addEventListener('abort', () => {
            clearTimeout(timer);
            reject(context.signal.reason);
          });
        });
      },
    });
    return { source, given };
  };

  /** Returns the result if it is there after so many milliseconds of the fake clock, else `running`. */
  async function elapsed<T>(ms: number, running: Promise<T>): Promise<T | 'running'> {
    let result: T | 'running' = 'running';
    const settling = running.then((value) => {
      result = value;
    });
    await vi.advanceTimersByTimeAsync(ms);
    if (result !== 'running') await settling;
    return result;
  }

  it('is passed over, is told so, and has its turn at the end, then for as long as it takes', async () => {
    const { source, given } = slowly('slow', 2, 60_000);
    const sources = [sourceOf('a', numbered('a', 1)), source, sourceOf('b', numbered('b', 3))];
    const listing = pageAcross(sources, { limit: 2 }, ctx);
    expect(await elapsed(PATIENCE_MS - 1, listing)).toBe('running');
    const page = await elapsed(1, listing);
    if (page === 'running') throw new Error('It is still waited for');
    expect(page.items).toEqual(['a-000', 'b-000']);
    expect(given[0]?.signal.reason).toMatchObject({ code: 'unavailable' });
    const second = await pageAcross(sources, { limit: 2, cursor: page.nextCursor }, ctx);
    expect(second.items).toEqual(['b-001', 'b-002']);
    const last = pageAcross(sources, { limit: 2, cursor: second.nextCursor }, ctx);
    expect(await elapsed(59_999, last)).toBe('running');
    expect(await elapsed(1, last)).toEqual({ items: ['slow-000', 'slow-001'], whole: undefined });
  });

  it('takes half as long from the page as the one before it', async () => {
    const slow = [1, 2, 3].map((index) => slowly(`slow${index}`, 1, 600_000).source);
    const listing = pageAcross([...slow, sourceOf('a', ['a'])], { limit: 1 }, ctx);
    expect(await elapsed(PATIENCE_MS * 1.75 - 1, listing)).toBe('running');
    expect(await elapsed(1, listing)).toMatchObject({ items: ['a'] });
  });

  it.each([
    ['is not remote', [slowly('slow', 1, 5_000, { remote: false }).source, sourceOf('b', ['b'])]],
    ['is the only one', [slowly('slow', 1, 5_000).source]],
    ['is the last one', [sourceOf('b', []), slowly('slow', 1, 5_000).source]],
  ])('is waited for where it %s', async (_which, sources) => {
    const listing = pageAcross(sources, { limit: 1 }, ctx);
    expect(await elapsed(4_999, listing)).toBe('running');
    expect(await elapsed(1, listing)).toMatchObject({ items: ['slow-000'] });
  });

  it('goes on where it was when its turn comes, should it become slow in the middle', async () => {
    const { source } = slowly('slow', 4, (cursor) => (cursor === undefined ? 0 : 5_000));
    const sources = [source, sourceOf('b', ['b'])];
    const first = await elapsed(0, pageAcross(sources, { limit: 2 }, ctx));
    if (first === 'running') throw new Error('It is still waited for');
    const second = await elapsed(PATIENCE_MS, pageAcross(sources, { limit: 1, cursor: first.nextCursor }, ctx));
    if (second === 'running') throw new Error('The others do not go first');
    expect(second.items).toEqual(['b']);
    const third = pageAcross(sources, { limit: 2, cursor: second.nextCursor }, ctx);
    expect(await elapsed(4_999, third)).toBe('running');
    expect(await elapsed(1, third)).toMatchObject({ items: ['slow-002', 'slow-003'] });
  });

  it('notes nothing until its turn, and then once', async () => {
    const { source: slow } = slowly('slow', 1, 5_000);
    const noting: ListSource<string> = {
      ...slow,
      list(page, context) {
        context.notes?.passOn({ slow: true });
        return slow.list(page, context);
      },
    };
    const sources = [noting, sourceOf('b', ['b'])];
    const notes = createNotes();
    const page = await elapsed(PATIENCE_MS, pageAcross(sources, { limit: 1 }, { ...ctx, notes }));
    expect(notes.finish({}, OWN)).toEqual(OWN);
    if (page === 'running') throw new Error('It is still waited for');
    const later = createNotes();
    await elapsed(5_000, pageAcross(sources, { limit: 1, cursor: page.nextCursor }, { ...ctx, notes: later }));
    expect(later.finish({}, OWN)).toEqual({ slow: true, ...OWN });
  });

  it('that fails at its turn is left out, and those that were passed over with it are not', async () => {
    const { source: one } = slowly('one', 2, 2_000);
    const failed: ListSource<string> = {
      name: 'failed',
      remote: true,
      list: ({ cursor }, { signal }) =>
        one.list({ cursor, limit: 1 }, { ...ctx, signal }).then(() => {
          throw new ResourceError('timeout', 'No answer');
        }),
    };
    const draining = drain([failed, one, sourceOf('b', numbered('b', 2))], 2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await draining).toMatchObject({
      items: ['b-000', 'b-001', 'one-000', 'one-001'],
      missing: [{ mount: 'failed', reason: 'No answer' }],
    });
  });

  it('loses and repeats nothing, however slow each page of it is', async () => {
    const shape = fc.record({ count: fc.nat(4), delays: fc.array(fc.nat(3_000), { minLength: 1, maxLength: 4 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(shape, { maxLength: 5 }), limits, async (parts, limit) => {
        const sources = parts.map(({ count, delays }, index) => {
          let asked = 0;
          return slowly(`s${index}`, count, () => delays[asked++ % delays.length] ?? 0).source;
        });
        const draining = drain(sources, limit);
        await vi.runAllTimersAsync();
        const { items, missing } = await draining;
        const expected = parts.flatMap(({ count }, index) => numbered(`s${index}`, count));
        expect(items.toSorted()).toEqual(expected.toSorted());
        expect(missing).toEqual([]);
        // Each source's own entries stay in their order.
        for (const [index] of parts.entries()) {
          const own = items.filter((each) => each.startsWith(`s${index}-`));
          expect(own).toEqual(own.toSorted());
        }
      }),
      { numRuns: 50 },
    );
  });
});
