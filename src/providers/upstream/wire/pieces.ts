/** Bytes that come in pieces, gathered: small pieces are put together, so that many of them take no more room than a large one. */

/** A piece that is larger stays as it came, in bytes. */
const SMALL_BYTES = 16 * 1024;

/** Room for small pieces, in bytes. */
const ROOM_BYTES = 64 * 1024;

export interface Pieces {
  readonly length: number;
  add(piece: Uint8Array): void;
  /** All of them; begins anew. A single piece is given as it came. */
  take(): Buffer;
}

export function createPieces(): Pieces {
  let pieces: Buffer[] = [];
  /** Where small pieces go, and how much of it is used. */
  let room: Buffer | undefined;
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
        pieces.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length));
        return;
      }
      if (room !== undefined && used + piece.length > room.length) seal();
      room ??= Buffer.allocUnsafeSlow(ROOM_BYTES);
      room.set(piece, used);
      used += piece.length;
    },
    take() {
      seal();
      const [only] = pieces;
      const all = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
      pieces = [];
      length = 0;
      return all;
    },
  };
}
