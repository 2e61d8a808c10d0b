import { expect, it } from 'vitest';
import { bestFormat } from './accept.ts';

const TYPES = ['application/pdf', 'text/html; charset=utf-8', 'text/plain'];

it.each([
  ['*/*', 0],
  ['text/*', 1],
  ['TEXT/PLAIN', 2],
  [['text/plain', '*/*'], 2],
  ['text/html;q=0.5, text/plain;q=0.8', 2],
  ['*/*, application/pdf;q=0', 1],
  ['*/*;q=0.1, text/plain', 2],
  ['image/*', undefined],
  ['text/plain;q=0', undefined],
  ['', undefined],
  [[], undefined],
] as const)('the best format for %j is at %j', (accept, expected) => {
  expect(bestFormat(TYPES, accept)).toBe(expected);
});
