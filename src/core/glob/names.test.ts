import { describe, expect, it } from 'vitest';
import { compileGlobs } from './index.ts';
import { globOfNames } from './names.ts';

describe('the glob of a search for names', () => {
  it.each([
    ['keys', '*keys*'],
    ['*.txt', '*.txt'],
    ['key?.txt', 'key?.txt'],
    ['[ab].txt', '[ab].txt'],
    ['{a,b}', '{a,b}'],
  ])('of %s is %s', (words, glob) => {
    expect(globOfNames(words)).toBe(glob);
  });

  it.each(['a}b', 'a]b', 'a\\b', '(a|b)', 'a\\', '!a', '@(a|b)'])('finds the characters of %s', (words) => {
    expect(compileGlobs([globOfNames(words)], 'path')?.matches(`x${words}y`)).toBe(true);
  });
});
