import { describe, expect, it } from 'vitest';
import { excessOf } from '../core/text/json-text.ts';
import { isTooDeep } from './depth.ts';

const isTextTooDeep = (json: string, depth: number): boolean =>
  excessOf(json, { values: Number.POSITIVE_INFINITY, depth }) === 'depth';

const nested = (levels: number, open = '[', close = ']'): string => `${open.repeat(levels)}1${close.repeat(levels)}`;

describe('the depth of a message [SEC-RES-3]', () => {
  it.each([
    ['arrays', nested(64), nested(65)],
    ['objects', nested(64, '{"a":', '}'), nested(65, '{"a":', '}')],
    ['arrays beside others', `[[],[],${nested(63)}]`, `[[],[],${nested(64)}]`],
  ])('of %s is the number of levels that are open at the same time', (_what, ok, tooDeep) => {
    expect([isTextTooDeep(ok, 64), isTextTooDeep(tooDeep, 64)]).toEqual([false, true]);
    expect([isTooDeep(JSON.parse(ok), 64), isTooDeep(JSON.parse(tooDeep), 64)]).toEqual([false, true]);
  });

  it('does not count brackets in strings, however they are escaped', () => {
    const brackets = '['.repeat(100);
    for (const text of [brackets, `"${brackets}`, `\\${brackets}`, `\\"${brackets}\\\\`, `\\\\"${brackets}`]) {
      expect(isTextTooDeep(JSON.stringify({ [text]: text }), 2)).toBe(false);
      expect(isTextTooDeep(JSON.stringify([text, [[text]]]), 2)).toBe(true);
    }
  });

  it('is measured in malformed JSON, too', () => {
    expect(isTextTooDeep('['.repeat(1_000_000), 64)).toBe(true);
    expect(isTextTooDeep(`"${'['.repeat(1_000)}`, 64)).toBe(false);
    expect(isTextTooDeep(']'.repeat(1_000), 64)).toBe(false);
    expect(isTextTooDeep(`"${'\\'.repeat(100_001)}`, 64)).toBe(false);
  });

  it('is measured without recursion', () => {
    expect(isTooDeep(JSON.parse(nested(100_000)), 64)).toBe(true);
  });
});
