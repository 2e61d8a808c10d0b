import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excessOf, NEW_NAME } from './json-text.ts';

const NONE = { values: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY };

/** Counts the values and the levels of parsed JSON. */
function countOf(value: unknown): { values: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { values: 0, depth: 0 };
  const inner = Object.values(value).map(countOf);
  return {
    values: Math.max(1, inner.length) + inner.reduce((sum, { values }) => sum + values, 0),
    depth: 1 + inner.reduce((most, { depth }) => Math.max(most, depth), 0),
  };
}

/** Names of fields, each once. */
function namesOf(value: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return found;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) found.add(name);
    namesOf(inner, found);
  }
  return found;
}

describe('how much there is in a JSON text [SEC-RES-4]', () => {
  it('is that of the parsed value, with any characters in its texts', () => {
    const texts = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', ']', '}', 'a', '\n', 'é') });
    const values = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'medium' }, texts, fc.integer(), tie('list'), tie('fields')),
      list: fc.array(tie('value')),
      fields: fc.dictionary(texts, tie('value')),
    })).value;
    fc.assert(
      fc.property(values, fc.constantFrom(0, 1), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const counted = countOf(value);
        const count = { ...counted, values: counted.values + NEW_NAME * namesOf(value).size };
        expect(excessOf(text, count)).toBeUndefined();
        if (count.depth === 0) return;
        expect(excessOf(text, { ...NONE, values: count.values - 1 })).toBe('values');
        expect(excessOf(text, { ...NONE, depth: count.depth - 1 })).toBe('depth');
      }),
    );
  });

  it('is also found in texts that are not JSON, and in texts without an end', () => {
    expect(excessOf('['.repeat(1_000_000), { ...NONE, depth: 64 })).toBe('depth');
    expect(excessOf(','.repeat(1_000_000), { ...NONE, values: 64 })).toBe('values');
    expect(excessOf('"a":'.repeat(1_000_000), { ...NONE, values: 64 })).toBeUndefined();
    expect(excessOf(`"${'\\'.repeat(100_001)}`, { values: 64, depth: 64 })).toBeUndefined();
  });
});
