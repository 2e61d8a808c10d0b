import { describe, expect, it } from 'vitest';
import { CHARSET_META_KEY, WINDOW_META_KEY } from '../protocol/meta.ts';
import { cutItem, itemIn } from './contents.ts';

const URI = 'notes:///a.txt';

const windowOf = (window: unknown) =>
  itemIn({ uri: URI, text: 'abc', _meta: { [WINDOW_META_KEY]: window } }, URI)?.window;

describe('the window of an item', () => {
  it('is the one that the server sends', () => {
    expect(windowOf({ offset: 2, length: 3, total: 9 })).toEqual({ offset: 2, length: 3, total: 9, cutBy: 'server' });
  });

  it.each([
    ['null', null],
    ['a negative offset', { offset: -1, length: 3 }],
    ['an offset with a fraction', { offset: 0.5, length: 3 }],
    ['a length that is no number', { offset: 0, length: '3' }],
    ['a length beyond whole numbers', { offset: 0, length: 1e300 }],
  ])('is undefined for %s', (_what, window) => {
    expect(windowOf(window)).toBeUndefined();
  });

  it('has no total where the server sends an invalid one', () => {
    expect(windowOf({ offset: 2, length: 3, total: -9 })).toEqual({ offset: 2, length: 3, cutBy: 'server' });
  });
});

describe('the text of a blob', () => {
  const item = (bytes: readonly number[], mimeType?: string, meta: object = {}) => {
    const found = itemIn({ uri: URI, blob: Buffer.from(bytes).toString('base64'), mimeType, _meta: meta }, URI);
    if (found === undefined) throw new Error('the item is invalid');
    return found;
  };
  const HI = [0x68, 0, 0x69, 0];
  const charset = (name: string) => ({ [CHARSET_META_KEY]: name });

  it.each<[string, readonly number[], string | undefined, object, string | undefined]>([
    ['UTF-16 of the MIME type', HI, 'text/plain; charset=utf-16le', {}, 'hi'],
    ['UTF-16 in quotes', HI, 'text/plain;format=flowed; Charset="UTF-16LE"', {}, 'hi'],
    ['UTF-16 by its mark', [0xfe, 0xff, 0, 0x68], 'text/plain; charset=utf-16', {}, 'h'],
    ['UTF-16 that the server has found', [0xff, 0xfe, ...HI], 'text/plain', charset('utf-16le'), 'hi'],
    ['half a character of UTF-16', HI.slice(0, 3), 'text/plain; charset=utf-16le', {}, undefined],
    ['windows-1252', [0xe9, 0x80], 'text/plain; charset=windows-1252', {}, '\u00e9\u20ac'],
    [
      'a declared charset that the server cannot find',
      [0xe9],
      'text/csv; charset=latin1',
      charset('unknown-8bit'),
      '\u00e9',
    ],
    ['Shift_JIS', [0x83, 0x4e], 'text/plain; charset=shift_jis', {}, '\u30af'],
    ['an unknown charset', [0x68], 'text/plain; charset=x-none', {}, undefined],
    ['UTF-8 that is declared', [0xc3, 0xa9], 'text/plain; charset=utf-8', {}, '\u00e9'],
    ['bytes that are not the declared UTF-8', [0xe9], 'text/plain; charset=UTF-8', {}, undefined],
    ['UTF-8 without a charset', [0xef, 0xbb, 0xbf, 0xc3, 0xa9], 'text/plain', {}, '\ufeff\u00e9'],
    ['UTF-8 without a MIME type', [0xc3, 0xa9], undefined, {}, '\u00e9'],
    ['bytes in an unknown charset', [0xe9], 'text/plain', charset('unknown-8bit'), undefined],
  ])('is decoded: %s', (_what, bytes, mimeType, meta, text) => {
    expect(item(bytes, mimeType, meta).text()).toBe(text);
  });

  it('is decoded in a window that begins and ends between characters', () => {
    const whole = item(HI, 'text/plain; charset=utf-16le');
    expect(cutItem(whole, { offset: 2, length: 2 }).text()).toBe('i');
    expect(cutItem(whole, { offset: 1, length: 2 }).text()).toBeUndefined();
    expect(cutItem(whole, { offset: 0, length: 3 }).text()).toBeUndefined();
    const sent = item([0, 0x69], 'text/plain; charset=utf-16le', { [WINDOW_META_KEY]: { offset: 1, length: 2 } });
    expect(sent.text()).toBeUndefined();
  });

  it('of a text item is UTF-8 in a window, whatever its MIME type says', () => {
    const text = itemIn({ uri: URI, text: 'h\u00e9', mimeType: 'text/plain; charset=utf-16le' }, URI);
    expect(text && cutItem(text, { offset: 1 }).text()).toBe('\u00e9');
  });
});
