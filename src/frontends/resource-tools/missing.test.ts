import { describe, expect, it } from 'vitest';
import { collectMissing, endOfPage, sayMissing } from './missing.ts';

describe('what is missing from an answer of a tool', () => {
  it('is named once, and in one line', () => {
    const { notes, parts } = collectMissing();
    for (let time = 0; time < 3; time++) {
      notes.missing({ mount: 'a', reason: 'It is\nout of reach' });
      notes.missing({ mount: 'a', reason: 'An entry is left out', entry: 'x:1' });
      notes.missing({ reason: 'Something' });
    }
    expect(parts()).toHaveLength(3);
    expect(sayMissing(parts())).toBe('Missing: a (It is out of reach); a, x:1 (An entry is left out); Something.');
    expect(endOfPage('3 entries', parts(), undefined)).toBe(`3 entries. ${sayMissing(parts())}`);
  });

  it('has a limited number of parts', () => {
    const { notes, parts } = collectMissing();
    for (let at = 0; at < 1_000; at++) notes.missing({ reason: `Part ${at}` });
    expect(parts()).toHaveLength(11);
    expect(sayMissing(parts())).toMatch(/; Part 9; and more\.$/);
  });

  it('is not mentioned if nothing is missing', () => {
    const { parts } = collectMissing();
    expect(sayMissing(parts())).toBeUndefined();
    expect(endOfPage('3 entries', parts(), undefined)).toBe('3 entries. That is all.');
    expect(endOfPage('3 entries', parts(), 'list {}')).toBe('3 entries so far. More: list {}');
  });
});
