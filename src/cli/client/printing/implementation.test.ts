import { expect, it } from 'vitest';
import { iconsText } from './implementation.ts';

it('icons are shown whatever their fields are', () => {
  const odd = { toString: 1, valueOf: 1 };
  expect(iconsText([{ src: odd, sizes: [odd, '48x48'] }, { src: 'data:,x', mimeType: odd }, null])).toBe(
    '{"toString":1,"valueOf":1} ({"toString":1,"valueOf":1} 48x48), embedded {"toString":1,"valueOf":1}, ',
  );
});
