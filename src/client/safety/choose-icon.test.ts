import { describe, expect, it } from 'vitest';
import { chooseIcon } from './choose-icon.ts';

const icon = (src: string, sizes?: readonly string[], more: object = {}) => ({ src, ...(sizes && { sizes }), ...more });

const SMALL = icon('small', ['16x16', '32x32']);
const LARGE = icon('large', ['128x128']);
const HUGE = icon('huge', ['512x512']);

describe('chooseIcon', () => {
  it.each([
    ['the smallest that is large enough', [HUGE, SMALL, LARGE], { size: 64 }, 'large'],
    ['one of exactly that size', [LARGE, SMALL], { size: 32 }, 'small'],
    ['the largest, where none is large enough', [SMALL, LARGE], { size: 256 }, 'large'],
    ['a drawing of any size', [SMALL, HUGE, icon('any', ['any'])], { size: 64 }, 'any'],
    ['one without sizes, which fits any', [SMALL, HUGE, icon('none')], { size: 64 }, 'none'],
    [
      'one of the theme',
      [icon('light', ['any'], { theme: 'light' }), icon('dark', ['16x16'], { theme: 'dark' })],
      { theme: 'dark' },
      'dark',
    ],
    [
      'one of no theme before one of the other',
      [icon('light', ['any'], { theme: 'light' }), SMALL],
      { theme: 'dark' },
      'small',
    ],
    ['the first, if all fit', [icon('one'), icon('two')], {}, 'one'],
    ['one of a type that is shown', [icon('tiff', ['48x48'], { mimeType: 'image/tiff' }), SMALL], {}, 'small'],
    ['image/jpg, which is JPEG', [icon('jpg', ['48x48'], { mimeType: 'image/jpg' }), SMALL], {}, 'jpg'],
    ['one with malformed sizes last', [icon('odd', ['big', '', '-5x5']), SMALL], {}, 'small'],
  ] as const)('takes %s [973-6]', (_what, icons, wish, src) => {
    expect(chooseIcon(icons, wish)?.src).toBe(src);
  });

  it('gives none if none may be shown', () => {
    expect(chooseIcon(undefined)).toBeUndefined();
    expect(chooseIcon([icon('tiff', undefined, { mimeType: 'image/tiff' })])).toBeUndefined();
  });
});
