/**
 * Keys that replicas share. The first key seals, and every key opens, so that a new key can replace an old one while both are
 * accepted. A seal is AES-256-GCM under a key that is derived for one use (`docs/decisions/0056-replicas.md`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { invalid } from './errors.ts';

/** The least bytes of a key. */
const MIN_KEY_BYTES = 32;

/** The most keys at a time. Opening a seal tries one after the other. */
const MAX_SERVER_KEYS = 8;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/** The keys of a server. The first one seals. */
export type Keys = readonly Uint8Array[];

/** Seals texts for one use. */
export interface Seal {
  /** @param bound is authenticated, but not part of the result; `open` needs the same */
  seal(plain: Uint8Array, bound: Uint8Array): Buffer;
  /** Returns undefined if the seal was altered, is bound to something else, or was made with another key. */
  open(sealed: Uint8Array, bound: Uint8Array): Buffer | undefined;
}

/**
 * Makes a seal for one use.
 * @param keys default: a random key, so that seals are valid for this process only
 * @param use names the purpose of the seal: a seal for one use does not open under another
 * @param steady makes the seal of the same text, bound to the same, the same each time: its nonce is then a digest of both, under
 *   a key derived for the use `steady.nonce`
 * @throws ResourceError `invalid` for an empty list of keys
 */
export function createSeal(
  keys: Keys = [randomBytes(MIN_KEY_BYTES)],
  use: string,
  steady?: { readonly nonce: string },
): Seal {
  const [first, ...others] = keys;
  if (first === undefined) throw invalid('There is no key among the keys; give one, or leave the keys out');
  const derive = (key: Uint8Array, name: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', name, 32));
  const sealing = derive(first, use);
  const opening = [sealing, ...others.map((key) => derive(key, use))];
  const nonceKey = steady && derive(first, steady.nonce);

  function openWith(key: Buffer, sealed: Uint8Array, bound: Uint8Array): Buffer | undefined {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(bound);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch {
      return undefined;
    }
  }

  return {
    seal(plain, bound) {
      const nonce =
        nonceKey === undefined
          ? randomBytes(NONCE_BYTES)
          : createHmac('sha256', nonceKey).update(bound).update(plain).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', sealing, nonce);
      cipher.setAAD(bound);
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    open(sealed, bound) {
      if (sealed.byteLength < OVERHEAD_BYTES) return undefined;
      for (const key of opening) {
        const plain = openWith(key, sealed, bound);
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
  };
}

/**
 * Returns a function that gives a text one name for each key, in the order of the keys. A name is 64 hexadecimal digits that
 * reveal nothing about the text to anybody who has none of the keys.
 */
export function keyedNames(keys: Keys, use: string): (text: string) => readonly string[] {
  const derived = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', use, 32)));
  return (text) => derived.map((key) => createHmac('sha256', key).update(text).digest('hex'));
}

/** Decodes base64url. Returns undefined unless encoding the bytes again gives the same text. */
export function unsealable(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Reads keys: base64 or base64url of at least 32 bytes each, separated by white space or commas.
 * @param where names the place of the keys in errors; an error never contains a key
 * @throws ResourceError `invalid` for no keys, more than 8, one that is too short or no base64, and one that occurs twice
 */
export function parseKeys(text: string, where: string): Keys {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0) throw invalid(`${where} has no key in it; ${HOW_TO_MAKE}`);
  if (words.length > MAX_SERVER_KEYS)
    throw invalid(`${where} has more than ${MAX_SERVER_KEYS} keys; leave out old ones`);
  const keys = words.map((word, index) => {
    const bytes = Buffer.from(word, 'base64');
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(word) || bytes.byteLength < MIN_KEY_BYTES)
      throw invalid(`Key ${index + 1} of ${where} is not base64 of ${MIN_KEY_BYTES} bytes or more; ${HOW_TO_MAKE}`);
    return bytes;
  });
  const repeated = keys.findIndex((key, index) => keys.findIndex((other) => other.equals(key)) < index);
  if (repeated !== -1) throw invalid(`Key ${repeated + 1} of ${where} stands there twice; leave one out`);
  return keys;
}

const HOW_TO_MAKE = 'make one with: openssl rand -base64 32';
