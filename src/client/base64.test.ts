import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Size, decodeBase64, utf8Size } from './base64.ts';

const encoded = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

describe('base64', () => {
  it('decodes to the original bytes, whose number is known in advance', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = encoded(bytes);
        expect(base64Size(text)).toBe(bytes.length);
        expect(decodeBase64(text)).toEqual(bytes);
        const url = Buffer.from(bytes).toString('base64url');
        expect(base64Size(url)).toBe(bytes.length);
        expect(decodeBase64(url)).toEqual(bytes);
      }),
    );
  });

  it('may have line breaks, and is never larger than the computed size', () => {
    const bytes = Uint8Array.from({ length: 200 }, (_, at) => at);
    const text = encoded(bytes).replace(/.{76}/g, '$&\r\n');
    expect(decodeBase64(text)).toEqual(bytes);
    expect(base64Size(text)).toBeGreaterThanOrEqual(bytes.length);
  });

  it.each(['A', 'AAAAA', 'A*AA', 'AA=A', '====A', 'ÄAAA', '\u0000AAA', 'AA AA==x'])('%j is invalid', (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it.each(['', '=', '===='])('%j has no bytes', (text) => {
    expect(decodeBase64(text)).toEqual(new Uint8Array());
  });
});

describe('the size of a text', () => {
  it('is that of its UTF-8, for any text', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0xffff }), { maxLength: 50 }), (units) => {
        // With lone surrogates among them.
        const text = String.fromCharCode(...units);
        expect(utf8Size(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
    expect(utf8Size('\ud800')).toBe(3);
    expect(utf8Size('a\udc00b')).toBe(5);
    expect(utf8Size('\ud83d\ude00')).toBe(4);
  });
});
