/** Objects that are kept because the same values come again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonOf, keep, oncePerKept } from './kept.ts';

describe('a kept value', () => {
  it('is frozen deeply, under symbols too', () => {
    const symbol = Symbol('names');
    const kept = keep({ list: [{ deep: { a: 1 } }], [symbol]: { b: [2] } });
    for (const each of [kept, kept.list, kept.list[0], kept.list[0]?.deep, kept[symbol], kept[symbol].b])
      expect(Object.isFrozen(each)).toBe(true);
  });

  it('is converted once, and the result is kept, too', () => {
    let count = 0;
    interface Value {
      readonly a: number;
      readonly b?: { readonly c: number };
    }
    const make = (value: Value) => {
      count++;
      return { ...value, b: { c: 1 } };
    };
    const [first, second] = [oncePerKept<Value>(make), oncePerKept<Value>(make)];
    const kept = keep({ a: 1 });
    expect(first(kept)).toBe(first(kept));
    expect(Object.isFrozen(first(kept).b)).toBe(true);
    expect(second(first(kept))).toBe(second(first(kept)));
    expect(count).toBe(2);
    // An equal object is converted again, and so is one that is not kept, since it may have changed.
    expect(first(keep({ a: 1 }))).not.toBe(first(kept));
    const loose = { a: 1 };
    first(loose);
    loose.a = 2;
    expect(first(loose)).toEqual({ a: 2, b: { c: 1 } });
  });

  it('may be converted to itself', () => {
    const same = oncePerKept((value: object) => value);
    const kept = keep({});
    expect(same(kept)).toBe(kept);
    expect(same(kept)).toBe(kept);
  });

  it('has the JSON that `JSON.stringify` writes, within any other value, the first time and later', () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.constant(undefined),
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()).map((value) => keep({ ...value })),
    );
    const result = fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.array(entry), entry));
    const agrees = fc.property(result, (value) => {
      for (let time = 0; time < 2; time++) expect(jsonOf(value)).toBe(JSON.stringify(value));
    });
    fc.assert(agrees, { numRuns: 500 });
    expect(jsonOf({ list: [keep({ [Symbol('x')]: 1, a: undefined })], none: undefined })).toBe('{"list":[{}]}');
  });
});
