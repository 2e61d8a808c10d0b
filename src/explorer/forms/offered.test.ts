import { expect, it } from 'vitest';
import { offeredOf } from './offered.ts';

it('offers values as they were sent, and none that hides something [SEC-UTIL-6]', () => {
  const good = ['file.txt', 'naïve café', 'a b', '👩‍🚀', ''];
  const bad = ['invoice\u202efdp.exe', 'a\u{e0041}', '\u001b[2J', 'a\nb', 'a\tb', 'zero\u200bwidth', 7, null, ['a']];
  expect(offeredOf([...good, ...bad])).toEqual(good);
});

it('offers no more than a completion has, and nothing for what is no list', () => {
  expect(offeredOf(Array.from({ length: 1_000 }, (_, index) => `${index}`))).toHaveLength(100);
  for (const wrong of [undefined, null, 'abc', { 0: 'a', length: 1 }]) expect(offeredOf(wrong)).toEqual([]);
});
