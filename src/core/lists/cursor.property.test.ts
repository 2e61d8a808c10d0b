import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CursorScope, createCursorCodec } from './cursor.ts';

const SECRET = new Uint8Array(32).fill(7);
const codec = createCursorCodec({ keys: [SECRET] });
const replica = createCursorCodec({ keys: [SECRET] });

const text = fc.string({ unit: 'binary', maxLength: 40 });
const scope: fc.Arbitrary<CursorScope> = fc.record({
  principal: text,
  method: text,
  parameters: fc.array(text, { maxLength: 3 }),
});
const position = fc.oneof(text, fc.string({ unit: 'binary', minLength: 500, maxLength: 3_000 }));

const isRefused = (cursor: string, by: CursorScope): boolean => {
  try {
    codec.open(cursor, by);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ name: 'ResourceError', code: 'invalid' });
    return true;
  }
};

describe('any position, sealed for any scope [SEC-UTIL-1]', () => {
  it('comes back from either replica', () => {
    fc.assert(
      fc.property(position, scope, (at, by) => {
        expect(codec.open(codec.seal(at, by), by)).toBe(at);
        expect(replica.open(codec.seal(at, by), by)).toBe(at);
      }),
    );
  });

  it('is refused for any other scope', () => {
    fc.assert(
      fc.property(position, scope, scope, (at, by, other) => {
        fc.pre(JSON.stringify(by) !== JSON.stringify(other));
        expect(isRefused(codec.seal(at, by), other)).toBe(true);
      }),
    );
  });

  it('is refused with any bit flipped', () => {
    fc.assert(
      fc.property(position, scope, fc.nat(), (at, by, bit) => {
        const bytes = Buffer.from(codec.seal(at, by), 'base64url');
        const index = Math.floor(bit / 8) % bytes.byteLength;
        bytes.writeUInt8(bytes.readUInt8(index) ^ (1 << (bit % 8)), index);
        expect(isRefused(bytes.toString('base64url'), by)).toBe(true);
      }),
    );
  });

  it('is refused with each single bit flipped, for a short and a compressed position', () => {
    const by: CursorScope = { principal: 'p', method: 'm', parameters: [] };
    for (const at of ['dguide', 'long'.repeat(200)]) {
      const sealed = Buffer.from(codec.seal(at, by), 'base64url');
      for (let bit = 0; bit < sealed.byteLength * 8; bit++) {
        const bytes = Buffer.from(sealed);
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(isRefused(bytes.toString('base64url'), by), `bit ${bit}`).toBe(true);
      }
    }
  });

  it('is refused cut short or made longer', () => {
    fc.assert(
      fc.property(position, scope, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 40 }), (at, by, cut, more) => {
        const bytes = Buffer.from(codec.seal(at, by), 'base64url');
        expect(isRefused(bytes.subarray(0, cut % bytes.byteLength).toString('base64url'), by)).toBe(true);
        expect(isRefused(Buffer.concat([bytes, more]).toString('base64url'), by)).toBe(true);
        expect(isRefused(Buffer.concat([more, bytes]).toString('base64url'), by)).toBe(true);
      }),
    );
  });

  it('is refused when two cursors are put together', () => {
    fc.assert(
      fc.property(position, position, scope, fc.nat(), (one, other, by, cut) => {
        const [a, b] = [Buffer.from(codec.seal(one, by), 'base64url'), Buffer.from(codec.seal(other, by), 'base64url')];
        const at = 1 + (cut % (Math.min(a.byteLength, b.byteLength) - 1));
        const mixed = Buffer.concat([a.subarray(0, at), b.subarray(at)]);
        fc.pre(!mixed.equals(a) && !mixed.equals(b));
        expect(isRefused(mixed.toString('base64url'), by)).toBe(true);
      }),
    );
  });
});

describe('any text', () => {
  it('that was never sealed is refused', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.base64String(), fc.stringMatching(/^[\w-]{40,200}$/)), scope, (cursor, by) =>
        isRefused(cursor, by),
      ),
    );
  });
});
