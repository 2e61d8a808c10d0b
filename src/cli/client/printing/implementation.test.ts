import { expect, it } from 'vitest';
import { iconsText } from './implementation.ts';

it('icons are shown whatever their fields are', () => {
  const odd = { toString: 1, valueOf: 1 };
  expect(iconsText([{ src: odd, sizes: [odd, '48x48'] }, { src: 'data:,x', mimeType: odd }, null])).toBe(
    '{"toString":1,"valueOf":1} ({"toString":1,"valueOf":1} 48x48), embedded {"toString":1,"valueOf":1}, ',
  );
});

it('the first icons are shown, and how many more there are', () => {
  const icons = (count: number) => Array.from({ length: count }, (_, index) => ({ src: `https://a.example/${index}` }));
  expect(iconsText([])).toBeUndefined();
  expect(iconsText(icons(10))?.split(', ')).toHaveLength(10);
  expect(iconsText(icons(10))).not.toContain('more');
  expect(iconsText(icons(11))).toMatch(/^https:\/\/a\.example\/0, .*\/9, and 1 more$/);
  expect(iconsText(icons(100_000))).toMatch(/\/9, and 99990 more$/);
});

it('each icon is shown in part, however long its fields are', () => {
  const long = 'x'.repeat(1_000_000);
  for (const icon of [
    { src: long },
    { src: { [long]: long } },
    { src: 'data:,x', mimeType: long },
    { src: 'a', sizes: [long] },
    { src: 'a', sizes: Array.from({ length: 100_000 }, () => '48x48') },
    { src: 'a', sizes: [[long]] },
  ])
    expect(iconsText([icon])?.length).toBeLessThan(1_100);
  expect(iconsText([{ src: 'a', sizes: ['1x1', '2x2'] }])).toBe('a (1x1 2x2)');
});
