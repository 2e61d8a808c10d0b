import { describe, expect, it } from 'vitest';
import { keepCounts, MAX_KEPT } from './counts.ts';
import type { Rows, Statement } from './thread.ts';

/** A database in which each statement gives the number of counts so far. */
function counting() {
  const asked: string[] = [];
  let answer = async (): Promise<void> => {};
  const counts = keepCounts(async (statements: readonly Statement[]): Promise<readonly Rows[]> => {
    const rows = statements.map(([sql]) => [[asked.push(sql)]]);
    await answer();
    return rows;
  });
  const waitFor = (wait: () => Promise<void>): void => {
    answer = wait;
  };
  return { counts, asked, waitFor };
}

describe('counts', () => {
  it('are made once for each statement', async () => {
    const { counts, asked } = counting();
    expect(await counts.count([['a'], ['b']])).toEqual([1, 2]);
    expect(await counts.count([['b'], ['c'], ['a']])).toEqual([2, 3, 1]);
    expect(asked).toEqual(['a', 'b', 'c']);
  });

  it('are made again after a write', async () => {
    const { counts } = counting();
    expect(await counts.count([['a']])).toEqual([1]);
    counts.forget();
    expect(await counts.count([['a']])).toEqual([2]);
  });

  it('are not kept if something is written meanwhile', async () => {
    const { counts, waitFor } = counting();
    let goOn = (): void => {};
    waitFor(() => new Promise((resolve) => (goOn = resolve)));
    const early = counts.count([['a']]);
    counts.forget();
    goOn();
    expect(await early).toEqual([1]);
    waitFor(async () => {});
    expect(await counts.count([['a']])).toEqual([2]);
  });

  it('are right even if more are needed than are kept', async () => {
    const { counts } = counting();
    const many = Array.from({ length: MAX_KEPT }, (_, at): Statement => [String(at)]);
    await counts.count(many);
    expect(await counts.count([['0'], ['more'], ['1']])).toEqual([1, MAX_KEPT + 1, 2]);
  });
});
