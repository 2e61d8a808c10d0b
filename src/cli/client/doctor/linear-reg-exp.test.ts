import { expect, it } from 'vitest';
import { linearRegExp } from './linear-reg-exp.ts';

it('a pattern that takes a RegExp exponential time is tested in linear time', () => {
  expect(linearRegExp('^(a+)+$', 'u').test(`${'a'.repeat(100_000)}!`)).toBe(false);
});

it.each([
  ['^\\d{2}-\\u0041$', '12-A', true],
  ['^\\p{L}+$', 'größer', true],
  ['^[\\w.-]+$', 'a b', false],
  ['^(?=a)b', 'x', true],
])('%s matches %s: %j', (pattern, text, expected) => {
  expect(linearRegExp(pattern, 'u').test(text)).toBe(expected);
});

it('two patterns are told apart by their texts, as Ajv needs', () => {
  expect(String(linearRegExp('a', 'u'))).not.toBe(String(linearRegExp('b', 'u')));
});

it('an invalid pattern is refused', () => {
  expect(() => linearRegExp('(', 'u')).toThrow(SyntaxError);
});
