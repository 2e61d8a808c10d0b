/**
 * Keys that replicas share: the first one seals, and each of them opens, so that one key can follow another without a
 * break. A seal is AES-256-GCM under a key that is derived for one use (`docs/decisions/0056-replicas.md`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { invalid } from './errors.ts';

/** Bytes of a key: at least so many. */
const MIN_KEY_BYTES = 32;

/** The most keys at a time: each of them is tried. */
const MAX_SERVER_KEYS = 8;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/** Keys of a server, the one that seals first. */
export type Keys = readonly Uint8Array[];

/** Seals texts for one use. */
export interface Seal {
  /** @param bound is not in the result, and has to be the same when it is opened */
  seal(plain: Uint8Array, bound: Uint8Array): Buffer;
  /** Undefined for what was altered, is bound to something else, or was sealed with a key that is not among these. */
  open(sealed: Uint8Array, bound: Uint8Array): Buffer | undefined;
}

/**
 * @param keys random, so valid for this process only, when left out
 * @param use what the seal is for: one use does not open what another one sealed
 * @param steady whether the same text has the same seal each time: its nonce is a digest of it then
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
 * Returns the names that each of the keys gives a text, the key that seals first: 64 hexadecimal digits that say nothing of the
 * text to those who have none of the keys.
 */
export function keyedNames(keys: Keys, use: string): (text: string) => readonly string[] {
  const derived = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', use, 32)));
  return (text) => derived.map((key) => createHmac('sha256', key).update(text).digest('hex'));
}

/** The bytes of a base64url text; undefined for one that is written in another way than ours. */
export function unsealable(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Reads keys: base64 or base64url of at least 32 bytes each, with white space or commas between them.
 * @param where stands in errors, which never have a key in them
 * @throws ResourceError `invalid`
 */
export function parseKeys(text: string, where: string): Keys {
  const written = text.split(/[\s,]+/).filter((each) => each !== '');
  if (written.length === 0) throw invalid(`${where} has no key in it; ${HOW_TO_MAKE}`);
  if (written.length > MAX_SERVER_KEYS)
    throw invalid(`${where} has more than ${MAX_SERVER_KEYS} keys; leave out old ones`);
  const keys = written.map((each, index) => {
    const bytes = Buffer.from(each, 'base64');
    if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(each) || bytes.byteLength < MIN_KEY_BYTES)
      throw invalid(`Key ${index + 1} of ${where} is not base64 of ${MIN_KEY_BYTES} bytes or more; ${HOW_TO_MAKE}`);
    return bytes;
  });
  const twice = keys.findIndex((key, index) => keys.findIndex((other) => other.equals(key)) < index);
  if (twice !== -1) throw invalid(`Key ${twice + 1} of ${where} stands there twice; leave one out`);
  return keys;
}

const HOW_TO_MAKE = 'make one with: openssl rand -base64 32';
