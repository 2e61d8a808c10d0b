/** A slow source is passed over, and has its turn at the end of the list. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ctx, drain, limits, numbered, OWN, sourceOf } from '../../../test/lists/sources.ts';
import type { Context } from '../context.ts';
import { ResourceError } from '../errors.ts';
import { createNotes } from '../notes.ts';
import { type ListSource, PATIENCE_MS, pageAcross } from './across.ts';

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

  it('is aborted and passed over, and gets its turn at the end, then without a time limit', async () => {
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

  it('is waited for half as long as the slow one before it', async () => {
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

  it('goes on at its cursor when its turn comes, if it becomes slow in the middle', async () => {
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
