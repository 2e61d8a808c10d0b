import { expect, it } from 'vitest';
import { UsageError } from '../../errors.ts';
import { countOf } from './numbers.ts';

it.each([
  [undefined, 7],
  ['0', 0],
  ['65535', 65_535],
])('%j is a whole number, or the default', (text, expected) => {
  expect(countOf(text, '--port', 7, 0, 65_535)).toBe(expected);
});

it.each(['', '80.5', '-1', '65536', '1e3', ' 1'])('%j is no whole number in the range', (text) => {
  expect(() => countOf(text, '--port', 7, 0, 65_535)).toThrow(
    new UsageError('--port takes a whole number from 0 to 65535'),
  );
});

it('names only the lower end of a range without an upper end', () => {
  expect(() => countOf('0', '--count', 7)).toThrow(new UsageError('--count takes a whole number from 1'));
});
