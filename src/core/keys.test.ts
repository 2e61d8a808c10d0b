import { describe, expect, it } from 'vitest';
import { createSeal, parseKeys } from './keys.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const text = (key: Uint8Array): string => Buffer.from(key).toString('base64');
const bytes = (plain: string): Buffer => Buffer.from(plain);

describe('a seal', () => {
  it('opens values that any of its keys sealed, while one key replaces another', () => {
    const before = createSeal([OLD], 'test');
    const during = createSeal([NEW, OLD], 'test');
    const after = createSeal([NEW], 'test');
    const old = before.seal(bytes('a'), bytes('b'));
    const fresh = during.seal(bytes('a'), bytes('b'));
    expect(during.open(old, bytes('b'))?.toString()).toBe('a');
    expect(after.open(fresh, bytes('b'))?.toString()).toBe('a');
    expect(after.open(old, bytes('b'))).toBeUndefined();
    expect(before.open(fresh, bytes('b'))).toBeUndefined();
  });

  it('opens nothing that was bound to something else, sealed for another use, altered or cut', () => {
    const seal = createSeal([OLD], 'test');
    const sealed = seal.seal(bytes('a'), bytes('b'));
    expect(seal.open(sealed, bytes('c'))).toBeUndefined();
    expect(createSeal([OLD], 'other').open(sealed, bytes('b'))).toBeUndefined();
    expect(createSeal(undefined, 'test').open(sealed, bytes('b'))).toBeUndefined();
    for (let end = 0; end < sealed.byteLength; end++)
      expect(seal.open(sealed.subarray(0, end), bytes('b'))).toBeUndefined();
  });

  it('differs each time, unless it is to be steady', () => {
    const once = createSeal([OLD], 'test');
    expect(once.seal(bytes('a'), bytes('b'))).not.toEqual(once.seal(bytes('a'), bytes('b')));
    const steady = createSeal([OLD], 'test', { nonce: 'nonce' });
    expect(steady.seal(bytes('a'), bytes('b'))).toEqual(steady.seal(bytes('a'), bytes('b')));
    expect(steady.seal(bytes('a'), bytes('b'))).not.toEqual(steady.seal(bytes('a'), bytes('c')));
  });

  it('needs a key where keys are given', () => {
    expect(() => createSeal([], 'test')).toThrow('There is no key among the keys');
  });
});

describe('a text of keys', () => {
  it('has them in base64 or base64url, with commas or white space between them', () => {
    const found = parseKeys(` ${text(NEW)},\n${Buffer.alloc(48, 0xff).toString('base64url')}\n`, 'keys');
    expect(found.map((each) => each.byteLength)).toEqual([32, 48]);
  });

  it.each([
    ['', 'keys has no key in it; make one with: openssl rand -base64 32'],
    ['hunter2', 'Key 1 of keys is not base64 of 32 bytes or more; make one with: openssl rand -base64 32'],
    [
      `${text(OLD)} not-a-key!`,
      'Key 2 of keys is not base64 of 32 bytes or more; make one with: openssl rand -base64 32',
    ],
    [`${text(OLD)} ${text(OLD)}`, 'Key 2 of keys stands there twice; leave one out'],
    [
      Array.from({ length: 9 }, (_, at) => text(new Uint8Array(32).fill(at))).join(' '),
      'keys has more than 8 keys; leave out old ones',
    ],
  ])('%j is refused in one sentence, without the key', (given, message) => {
    expect(() => parseKeys(given, 'keys')).toThrow(expect.objectContaining({ code: 'invalid', message }));
  });
});
