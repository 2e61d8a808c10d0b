/** Gathers bytes that come in pieces. Small pieces are put together, so that many take no more memory than a large one. */

/** The most bytes of a small piece. A larger one stays as it came. */
const SMALL_BYTES = 16 * 1024;

/** The size of a buffer for small pieces, in bytes. */
const ROOM_BYTES = 64 * 1024;

export interface Pieces {
  readonly length: number;
  add(piece: Uint8Array): void;
  /** Returns all bytes, and begins anew. A single piece is returned as it came, not copied. */
  take(): Uint8Array;
}

export function createPieces(): Pieces {
  let pieces: Uint8Array[] = [];
  /** The buffer of small pieces, and how much of it is used. */
  let room: Uint8Array | undefined;
  let used = 0;
  let length = 0;

  function seal(): void {
    if (room !== undefined && used > 0) pieces.push(room.subarray(0, used));
    room = undefined;
    used = 0;
  }

  return {
    get length() {
      return length;
    },
    add(piece) {
      if (piece.length === 0) return;
      const first = length === 0;
      length += piece.length;
      if (first || piece.length > SMALL_BYTES) {
        seal();
        pieces.push(piece);
        return;
      }
      if (room !== undefined && used + piece.length > room.length) seal();
      room ??= new Uint8Array(ROOM_BYTES);
      room.set(piece, used);
      used += piece.length;
    },
    take() {
      seal();
      const [only] = pieces;
      const all = pieces.length === 1 && only !== undefined ? only : joined(pieces, length);
      pieces = [];
      length = 0;
      return all;
    },
  };
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes UTF-8, and keeps a byte order mark. */
export const textOf = (bytes: Uint8Array): string => DECODER.decode(bytes);
