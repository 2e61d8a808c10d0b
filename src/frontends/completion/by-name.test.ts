import { describe, expect, it } from 'vitest';
import { type Context, createContext } from '../../core/context.ts';
import type { RankedMatch, RankedQuery, RankedSearch } from '../../core/ranked.ts';
import { memoryProvider } from '../../providers/memory/index.ts';
import { completedByName } from './by-name.ts';

const MINUTE = 60_000;

const memory = memoryProvider({
  resources: {
    'clocks/a.md': { text: 'a', title: 'Brass clock' },
    'clocks/b.md': { text: 'b' },
    'bell.md': { text: 'c' },
  },
});

/** An index with answers that a real one cannot be made to give. */
const indexOf = (find: (query: RankedQuery, ctx: Context) => AsyncIterable<RankedMatch>): RankedSearch => ({
  find,
  state: () => ({ state: 'ready', resources: 0, passages: 0, bytes: 0, leftOut: {} }),
  settled: async () => {},
  changed() {},
  close: async () => {},
});

const request = { uriTemplate: 'memory:///{+path}', variable: 'path', known: {}, limit: 100 };

const found = (path: string): RankedMatch => ({
  uri: `memory:///${path}`,
  path,
  passage: {
    fits: (texts) => {
      const each = texts.map((text) => new Set(/\bclo/i.test(text) ? [0] : []));
      return { each, together: new Set(each.flatMap((terms) => [...terms])) };
    },
  },
});

describe('completion by names', () => {
  it('ends when its time is over, and offers what was found by then', async () => {
    let ended: AbortSignal | undefined;
    const index = indexOf(async function* (_query, { signal }) {
      ended = signal;
      yield found('clocks/a.md');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      yield found('clocks');
    });
    const { complete } = completedByName(memory, () => index, 500);
    expect(await complete?.({ ...request, value: 'clo' }, createContext())).toEqual({
      values: ['clocks/', 'clocks/a.md'],
      hasMore: true,
    });
    expect(ended?.aborted).toBe(true);
  });

  it('sends a slow index only a few questions at once', async () => {
    let asked = 0;
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    // biome-ignore lint/correctness/useYield: it finds nothing
    const index = indexOf(async function* () {
      asked++;
      await answered;
    });
    const { complete } = completedByName(memory, () => index, 0);
    const ask = () => complete?.({ ...request, value: 'be' }, createContext());
    for (let at = 0; at < 20; at++) expect(await ask()).toEqual({ values: ['bell.md'], hasMore: false, total: 1 });
    expect(asked).toBe(4);
    answer();
    await answered;
    await expect
      .poll(async () => {
        await ask();
        return asked;
      })
      .toBeGreaterThan(4);
  });

  it('offers nothing that has another name for the caller, is gone, or does not match the template', async () => {
    const index = indexOf(async function* () {
      yield found('clocks/b.md');
      yield found('clocks/gone.md');
      yield { ...found('clocks/a.md'), uri: 'other:///clocks/a.md' };
      yield found('');
      yield found('clocks');
    });
    const { complete } = completedByName(memory, () => index, MINUTE);
    const completed = await complete?.({ ...request, value: 'a clo' }, createContext());
    expect(completed).toEqual({ values: ['clocks/'], hasMore: false });
  });

  it.each([
    ['memory:///{+path}', 'c', {}],
    ['memory:///{folder}/{name}', 'clo', {}],
    ['memory:///{+path}/index.md', 'clo', {}],
    ['memory:///{+path}', '\uD800/clo', {}],
  ])('does not search the index for %s and %j', async (uriTemplate, value, known) => {
    let asked = 0;
    // biome-ignore lint/correctness/useYield: it finds nothing
    const index = indexOf(async function* () {
      asked++;
    });
    const inner = { ...memory, complete: async () => ({ values: [], hasMore: false }) };
    const variable = uriTemplate.includes('{name}') ? 'name' : 'path';
    const { complete } = completedByName(inner, () => index, MINUTE);
    expect(await complete?.({ uriTemplate, variable, value, known, limit: 100 }, createContext())).toEqual({
      values: [],
      hasMore: false,
    });
    expect(asked).toBe(0);
  });

  it('adds nothing if the index fails, and stops with its caller', async () => {
    // biome-ignore lint/correctness/useYield: it fails
    const failing = indexOf(async function* () {
      throw new Error('gone');
    });
    const context = createContext();
    expect(
      await completedByName(memory, () => failing, MINUTE).complete?.({ ...request, value: 'be' }, context),
    ).toEqual({
      values: ['bell.md'],
      hasMore: false,
      total: 1,
    });
    const caller = new AbortController();
    // biome-ignore lint/correctness/useYield: it is left
    const leaving = indexOf(async function* (_query, { signal }) {
      caller.abort(new Error('left'));
      signal.throwIfAborted();
    });
    const left = completedByName(memory, () => leaving, MINUTE).complete;
    await expect(left?.({ ...request, value: 'be' }, createContext({ signal: caller.signal }))).rejects.toThrow('left');
  });
});
