import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { weightOf } from './weight.ts';

describe('the weight of a value', () => {
  it('is at least that of its texts and keys, and no more than a few times its JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(weightOf(value)).toBeGreaterThanOrEqual(json.replaceAll(/[^a-z]|null|true|false/g, '').length / 6);
        expect(weightOf(value)).toBeLessThanOrEqual(34 * json.length);
      }),
    );
  });

  it('is found for values that are nested deeper than calls can be', () => {
    let deep: unknown = [];
    for (let level = 0; level < 200_000; level++) deep = [deep];
    expect(weightOf(deep)).toBeGreaterThan(200_000);
  });

  it('includes everything between and behind undefined', () => {
    expect(weightOf([undefined, 'a'.repeat(1_000), undefined])).toBeGreaterThan(1_000);
  });
});
