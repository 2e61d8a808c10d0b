import { expect, it } from 'vitest';
import { suggestionsIn } from './suggestions.ts';

it('offers values as they were sent, and none that hides something [SEC-UTIL-6]', () => {
  const good = ['file.txt', 'naïve café', 'a b', '👩‍🚀', ''];
  const bad = ['invoice\u202efdp.exe', 'a\u{e0041}', '\u001b[2J', 'a\nb', 'a\tb', 'zero\u200bwidth', 7, null, ['a']];
  expect(suggestionsIn([...good, ...bad])).toEqual(good);
});

it('offers no more values than a completion may have, and none if they are not a list', () => {
  expect(suggestionsIn(Array.from({ length: 1_000 }, (_, index) => `${index}`))).toHaveLength(100);
  for (const wrong of [undefined, null, 'abc', { 0: 'a', length: 1 }]) expect(suggestionsIn(wrong)).toEqual([]);
});
