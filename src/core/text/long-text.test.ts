import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUtf8Text, type LongText, longBase64, longString, longUtf8, type Parts, withLongTexts } from './long-text.ts';

/** Writes a text by way of a buffer of 32 bytes, so that most take several pieces; each overwrites the one before it. */
function written(long: LongText): string {
  const pieces: Buffer[] = [];
  for (const piece of long.pieces(Buffer.alloc(32))) pieces.push(Buffer.from(piece));
  const all = Buffer.concat(pieces);
  expect(all.byteLength).toBe(long.bytes);
  return all.toString('utf8');
}

function cut(bytes: Buffer, at: readonly number[]): Parts {
  const ends = [...at.map((each) => each % (bytes.byteLength + 1)), bytes.byteLength].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const places = fc.array(fc.nat(), { maxLength: 8 });
const text = fc.string({ unit: 'binary', maxLength: 200 });
const bytes = fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each));

describe('a long text', () => {
  it('is written as JSON writes the string, in however many parts it came', () => {
    fc.assert(
      fc.property(text, places, (each, at) => {
        expect(written(longUtf8(cut(Buffer.from(each), at)))).toBe(JSON.stringify(each).slice(1, -1));
      }),
    );
  });

  it('is written with every character that JSON escapes', () => {
    const all = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code)).repeat(3);
    for (const at of [[], [1], [3, 5, 7]]) {
      expect(written(longUtf8(cut(Buffer.from(all), at)))).toBe(JSON.stringify(all).slice(1, -1));
    }
  });

  it('is written in base64, in however many parts it came', () => {
    fc.assert(
      fc.property(bytes, places, (each, at) => {
        expect(written(longBase64(cut(each, at)))).toBe(each.toString('base64'));
      }),
    );
  });

  it('is written from a string, in however many blocks that lies', () => {
    for (const each of ['"é"', 'x', '𝄞', 'a𝄞', '☃\n'].map((unit) => unit.repeat(400_000))) {
      const long = longString(each);
      if (typeof long === 'string') throw new Error('it has UTF-8');
      expect(written(long) === JSON.stringify(each).slice(1, -1)).toBe(true);
      expect(long.uncounted).toBe(long.bytes);
      long.release();
    }
  });

  it('stays a string if the string has half of a surrogate pair', () => {
    expect(longString('a\ud834')).toBe('a\ud834');
  });

  it('is a string to code that does not know long texts', () => {
    const long = longUtf8([Buffer.from('caf'), Buffer.from('é"')]);
    expect(JSON.stringify({ long })).toBe('{"long":"café\\""}');
    expect(`${longBase64([Buffer.from('a'), Buffer.from('bc')])}`).toBe('YWJj');
  });

  it('is kept aside from the JSON that it stands in', () => {
    const [first, second] = [longUtf8([Buffer.from('one')]), longBase64([Buffer.from('two')])];
    const parts = withLongTexts(() => JSON.stringify({ a: first, b: [{ c: second }], d: 1 }));
    expect(parts).toEqual(['{"a":"', first, '","b":[{"c":"', second, '"}],"d":1}']);
    expect(withLongTexts(() => '{}')).toEqual(['{}']);
    expect(() =>
      withLongTexts(() => {
        throw new Error('no JSON');
      }),
    ).toThrow('no JSON');
    expect(JSON.stringify(first)).toBe('"one"');
  });
});

it('parts are UTF-8 if and only if their bytes are UTF-8 when joined', () => {
  const nearly = fc.oneof(
    bytes,
    text.map((each) => Buffer.from(each)),
    fc.tuple(text, bytes).map(([begin, end]) => Buffer.concat([Buffer.from(begin), end.subarray(0, 3)])),
  );
  fc.assert(fc.property(nearly, places, (each, at) => isUtf8Text(cut(each, at)) === isUtf8(each)));
});
