/** Completion of paths in folders with very many names. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../core/context.ts';
import type { CompletionValues, ResourceProvider } from '../../core/provider.ts';
import { type Scene, scene } from '../../testing/git-scene.ts';

const ctx = createContext();

const ENTRIES = 200_000;

let place: Scene;
let provider: ResourceProvider;

beforeAll(async () => {
  place = await scene();
  const blob = place.gitWith('one\n', 'hash-object', '-w', '--stdin');
  const folder = place.gitWith('', 'mktree');
  const many = Array.from({ length: ENTRIES }, (_, index) => `100644 blob ${blob}\tf${String(index).padStart(6, '0')}`);
  const odd = ['a', 'a.b', 'a.txt', 'a~b', 'a\u{1f600}b', 'été', '~', 'z\\y'].map(
    (name) => `100644 blob ${blob}\t${name}`,
  );
  const folders = ['a-', 'ab'].map((name) => `040000 tree ${folder}\t${name}`);
  const names = `${[...many, ...odd, ...folders].join('\0')}\0`;
  const tree = place.gitWith(Buffer.from(names), 'mktree', '-z');
  place.git('update-ref', 'refs/heads/main', place.git('commit-tree', '-m', 'Many', tree));
  provider = await place.open();
});
afterAll(() => place[Symbol.asyncDispose]());

const complete = async (value: string, limit = 100): Promise<CompletionValues | undefined> =>
  provider.complete?.({ uriTemplate: 'git:///HEAD/{+path}', variable: 'path', value, known: {}, limit }, ctx);

/** Completes, and measures the total time and the longest time without a turn for other work, in milliseconds. */
async function measured(value: string): Promise<{ whole: number; longest: number }> {
  const begun = performance.now();
  let [last, longest] = [begun, 0];
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await complete(value);
  clearInterval(timer);
  return { whole: performance.now() - begun, longest: Math.max(longest, performance.now() - last) };
}

describe('completion in a folder with very many names', () => {
  it("offers the names with the typed beginning, in git's order", async () => {
    const values = async (typed: string): Promise<unknown> => (await complete(typed))?.values;
    expect(await values('a')).toEqual(['a', 'a-/', 'a.b', 'a.txt', 'ab/', 'a~b', 'a\u{1f600}b']);
    expect(await values('a.')).toEqual(['a.b', 'a.txt']);
    expect(await values('ab')).toEqual(['ab/']);
    expect(await values('a~')).toEqual(['a~b']);
    expect(await values('a\u{1f600}')).toEqual(['a\u{1f600}b']);
    expect(await values('é')).toEqual(['été']);
    expect(await values('z~5')).toEqual(['z~5Cy']);
    expect(await values('~')).toEqual(['~']);
    expect(await values('zz')).toEqual([]);
    expect(await values('f199999')).toEqual(['f199999']);
    expect(await complete('f', 2)).toEqual({ values: ['f000000', 'f000001'], hasMore: true });
    expect(await complete('', 1)).toMatchObject({ values: ['a'], hasMore: true });
  });

  it('looks only at the names with the typed beginning, and gives other work a turn if it has to look at all names', async () => {
    await complete('zz');
    // A tilde may begin an escape of any byte.
    const all = await measured('~0');
    expect(all.longest).toBeLessThan(all.whole / 2);
    expect((await measured('zz')).whole).toBeLessThan(all.whole / 2);
  });
});
