import { describe, expect, it } from 'vitest';
import { windowIn } from './window.ts';

const found = (window: unknown) => windowIn({ _meta: { 'vitrine/window': window } });

describe('the window in contents', () => {
  it('is as it was sent, with the size of the whole if that is known', () => {
    expect(found({ offset: 0, length: 3, total: 9 })).toEqual({ offset: 0, length: 3, total: 9 });
    expect(found({ offset: 6, length: 0 })).toEqual({ offset: 6, length: 0 });
    expect(found({ offset: 1, length: 2, total: '9', more: true })).toEqual({ offset: 1, length: 2 });
  });

  it.each([
    [undefined],
    [null],
    ['x'],
    [7],
    [true],
    [[]],
    [{}],
    [{ offset: 1 }],
    [{ offset: '1', length: 2 }],
    [{ offset: -1, length: 2 }],
    [{ offset: 0.5, length: 2 }],
    [{ offset: 0, length: 1e300 }],
  ])('is none where it is %j', (window) => expect(found(window)).toBeUndefined());

  it('is none without metadata', () => expect(windowIn({})).toBeUndefined());
});
