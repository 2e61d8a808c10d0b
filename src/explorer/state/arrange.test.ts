import { describe, expect, it } from 'vitest';
import { arranged } from './arrange.ts';

const COUNT = 10_000;
const ENTRIES = Array.from({ length: COUNT }, (_, at) => ({
  uri: `m:///${at}`,
  name: `Entry ${String((at * 7_919) % COUNT).padStart(5, '0')}`,
  size: at % 100,
}));

describe('entries', () => {
  it('are filtered and ordered, whichever way, and the ones that are alike keep their order', async () => {
    const { signal } = new AbortController();
    const up = (await arranged(ENTRIES, { sort: 'name' }, signal)) ?? [];
    expect(up.map(({ name }) => name)).toEqual(ENTRIES.map(({ name }) => name).sort());
    const down = (await arranged(ENTRIES, { sort: '-size', filter: 'entry 000' }, signal)) ?? [];
    expect(down).toHaveLength(100);
    const expected = ENTRIES.filter(({ name }) => name.startsWith('Entry 000')).sort((a, b) => b.size - a.size);
    expect(down).toEqual(expected);
    expect(await arranged(ENTRIES, { sort: 'colour' }, signal)).toBe(ENTRIES);
  });

  it('are not arranged any more after an abort', async () => {
    expect(await arranged(ENTRIES, { sort: 'name' }, AbortSignal.abort())).toBeUndefined();
  });
});
