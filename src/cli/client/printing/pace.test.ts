import { describe, expect, it } from 'vitest';
import type { GetProgress } from '../../../client/node/index.ts';
import { createPace } from './pace.ts';

const none = { written: 0, unchanged: 0, skipped: 0, planned: 0, failed: 0, found: 0, foundAll: false, bytes: 0 };

function told(...steps: readonly (Partial<GetProgress> & { readonly at: number })[]): string | undefined {
  let time = 0;
  const pace = createPace(() => time);
  return steps
    .map(({ at, ...progress }) => {
      time = at * 1_000;
      return pace({ ...none, ...progress });
    })
    .at(-1);
}

describe('the progress of get', () => {
  it('has a bar and the remaining time if the total is known', () => {
    expect(told({ at: 2, written: 40, unchanged: 10, found: 200, foundAll: true, bytes: 2_048 })).toBe(
      '[=====               ] 50 of 200, 2.0K read, 1.0K/s, 6 s left',
    );
  });

  it('has neither while more resources are found', () => {
    expect(told({ at: 2, written: 40, found: 200, bytes: 4_096 })).toBe('40 of 200 so far, 4.0K read, 2.0K/s');
  });

  it('averages over the last seconds', () => {
    expect(
      told(
        { at: 1, written: 1, found: 1_000, foundAll: true },
        { at: 8, written: 2, found: 1_000, foundAll: true },
        { at: 10, written: 102, failed: 3, skipped: 5, found: 1_000, foundAll: true },
      ),
    ).toBe('[==                  ] 110 of 1000, 3 failed, 0 read, 17 s left');
  });

  it.each([
    [59, '59 s'],
    [60, '1:00 min'],
    [3_599, '59:59 min'],
    [3_720, '1:02 h'],
  ])('writes %i seconds as %s', (seconds, text) => {
    expect(told({ at: 2, written: 2, found: 2 + seconds, foundAll: true })).toMatch(new RegExp(`, ${text} left$`));
  });

  it('leaves out numbers that are unknown', () => {
    expect(told({ at: 0, found: 3, foundAll: true })).toBe('[                    ] 0 of 3, 0 read');
  });
});
