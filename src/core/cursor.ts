/**
 * Cursors that peers hold: opaque, authenticated, bound to who asked and what was asked, and expiring (SEC-UTIL-1).
 *
 * A cursor is AES-256-GCM over the provider's position; the principal and the request are the associated data. It is
 * encrypted rather than only signed, because a position names an entry and a caller may not be allowed to know it
 * (`docs/decisions/0003-cursors.md`). The server keeps no state: replicas with the same secret accept each other's.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ResourceError } from './errors.ts';

/** How long a cursor is accepted, in milliseconds. */
export const CURSOR_TTL_MS = 60 * 60 * 1000;

/** The longest position that is sealed, in bytes. */
export const MAX_POSITION_BYTES = 131_072;

/** Longer positions are deflated: what makes them long is URIs that begin alike. */
const DEFLATE_FROM_BYTES = 512;

const PLAIN = 1;
const DEFLATED = 2;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + 4;

/** The scope of a cursor: it is good for the same principal, method and parameters, and for nothing else. */
export interface CursorScope {
  readonly principal: string;
  readonly method: string;
  /** The parameters that shape the list, in a fixed order. */
  readonly parameters: readonly string[];
}

export interface CursorCodec {
  /** Seals a position for a scope. */
  seal(position: string, scope: CursorScope): string;
  /**
   * The position of a cursor that this server sealed for the same scope.
   * @throws ResourceError `invalid` for a foreign, altered or expired one; the cases are not told apart.
   */
  open(cursor: string, scope: CursorScope): string;
}

export interface CursorOptions {
  /** Shared by replicas; at least 16 bytes. Random, so valid for this process only, when left out. */
  readonly secret?: Uint8Array | undefined;
  readonly ttlMs?: number | undefined;
  /** For tests. */
  readonly now?: (() => number) | undefined;
}

export function createCursorCodec(options: CursorOptions = {}): CursorCodec {
  const secret = options.secret ?? randomBytes(32);
  if (secret.byteLength < 16) throw new ResourceError('invalid', 'The cursor secret needs at least 16 bytes');
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'vitrine cursor v1', 32));
  const ttlMs = options.ttlMs ?? CURSOR_TTL_MS;
  const now = options.now ?? Date.now;

  return {
    seal(position, scope) {
      const plain = Buffer.from(position, 'utf8');
      if (plain.byteLength > MAX_POSITION_BYTES) {
        throw new ResourceError(
          'too-large',
          'The list goes too deep to be continued by a cursor; list a part of it by its URI',
        );
      }
      const deflated = plain.byteLength >= DEFLATE_FROM_BYTES;
      const payload = deflated ? deflateRawSync(plain) : plain;
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt8(deflated ? DEFLATED : PLAIN, 0);
      header.writeUInt32BE(Math.ceil((now() + ttlMs) / 1000), 1);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(associatedData(header, scope));
      const sealed = Buffer.concat([cipher.update(payload), cipher.final()]);
      return Buffer.concat([header, nonce, sealed, cipher.getAuthTag()]).toString('base64url');
    },

    open(cursor, scope) {
      const bytes = Buffer.from(cursor, 'base64url');
      const header = bytes.subarray(0, HEADER_BYTES);
      const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
      const sealed = bytes.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES);
      const minimum = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;
      if (bytes.byteLength < minimum || bytes.toString('base64url') !== cursor) throw refused();
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
        decipher.setAAD(associatedData(header, scope));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const payload = Buffer.concat([decipher.update(sealed), decipher.final()]);
        if (header.readUInt32BE(1) * 1000 < now()) throw refused();
        const plain =
          header[0] === DEFLATED ? inflateRawSync(payload, { maxOutputLength: MAX_POSITION_BYTES }) : payload;
        return plain.toString('utf8');
      } catch {
        throw refused();
      }
    },
  };
}

function refused(): ResourceError {
  return new ResourceError('invalid', 'The cursor is not valid for this request or has expired; list again without it');
}

function associatedData(header: Buffer, scope: CursorScope): Buffer {
  return Buffer.concat([
    header,
    Buffer.from(JSON.stringify([scope.principal, scope.method, ...scope.parameters]), 'utf8'),
  ]);
}
