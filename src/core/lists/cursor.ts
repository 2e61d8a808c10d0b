/**
 * Cursors: opaque, authenticated, bound to the principal and the request, and expiring (SEC-UTIL-1).
 *
 * A cursor is AES-256-GCM over the provider's position; the principal and the request are the associated data. It is encrypted
 * rather than only signed, because a position names an entry that the caller may not be allowed to see
 * (`docs/decisions/0003-cursors.md`). The server keeps no state: replicas with a common key accept each other's cursors.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ResourceError } from '../errors.ts';
import { createSeal, type Keys, unsealable } from '../keys.ts';

/** How long a cursor is accepted, in milliseconds. */
export const CURSOR_TTL_MS = 60 * 60 * 1000;

/** The most bytes of a position. */
export const MAX_POSITION_BYTES = 131_072;

/** Positions of at least this many bytes are compressed: they mostly contain URIs with common beginnings. */
const DEFLATE_FROM_BYTES = 512;

const PLAIN = 1;
const DEFLATED = 2;
const HEADER_BYTES = 1 + 4;

/** The scope of a cursor: it is valid only for the same principal, method and parameters. */
export interface CursorScope {
  readonly principal: string;
  readonly method: string;
  /** The parameters that determine the list, in a fixed order. */
  readonly parameters: readonly string[];
}

export interface CursorCodec {
  /** Seals a position for a scope. @throws ResourceError `too-large` for a position of more than `MAX_POSITION_BYTES` */
  seal(position: string, scope: CursorScope): string;
  /**
   * Opens a cursor that this server sealed for the same scope.
   * @throws ResourceError `invalid` for a foreign, altered or expired cursor; the error does not tell which it is
   */
  open(cursor: string, scope: CursorScope): string;
}

export interface CursorOptions {
  /** The keys, which replicas share. Default: a random key for this process only. */
  readonly keys?: Keys | undefined;
  /** How long a cursor is accepted, in milliseconds. Default: an hour. */
  readonly ttlMs?: number | undefined;
  /** Tests set the clock: milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

export function createCursorCodec(options: CursorOptions = {}): CursorCodec {
  const { seal, open } = createSeal(options.keys, 'vitrine cursor v1');
  const ttlMs = options.ttlMs ?? CURSOR_TTL_MS;
  const now = options.now ?? Date.now;

  return {
    seal(position, scope) {
      const plain = Buffer.from(position, 'utf8');
      if (plain.byteLength > MAX_POSITION_BYTES) {
        throw new ResourceError(
          'too-large',
          'The list is too deep to continue with a cursor; list a part of it by its URI',
        );
      }
      const deflated = plain.byteLength >= DEFLATE_FROM_BYTES;
      const payload = deflated ? deflateRawSync(plain) : plain;
      const header = Buffer.alloc(HEADER_BYTES);
      header.writeUInt8(deflated ? DEFLATED : PLAIN, 0);
      header.writeUInt32BE(Math.ceil((now() + ttlMs) / 1000), 1);
      return Buffer.concat([header, seal(payload, associatedData(header, scope))]).toString('base64url');
    },

    open(cursor, scope) {
      const bytes = unsealable(cursor);
      if (bytes === undefined || bytes.byteLength < HEADER_BYTES) throw refused();
      const header = bytes.subarray(0, HEADER_BYTES);
      const payload = open(bytes.subarray(HEADER_BYTES), associatedData(header, scope));
      if (payload === undefined || header.readUInt32BE(1) * 1000 < now()) throw refused();
      if (header[0] !== DEFLATED) return payload.toString('utf8');
      return inflateRawSync(payload, { maxOutputLength: MAX_POSITION_BYTES }).toString('utf8');
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
