/** Cuts a text into pieces that a model summarises one by one: between lines if possible, never inside a character. */
import type { Context } from '../../../core/context.ts';
import { invalid } from '../../../core/errors.ts';
import { textFirst } from '../../../core/formats/formats.ts';
import { trailingPartBytes } from '../../../core/text/text.ts';
import { readMetadata } from '../../resources/metadata.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { cutWindow } from '../reading/cut.ts';
import { readSlice } from '../reading/slice.ts';

/** Bytes of a piece, unless a large text would then have too many pieces. */
const PIECE_BYTES = 12 * 1024;
const MAX_PIECE_BYTES = 32 * 1024;

/** The fraction of a piece, at its end, that is searched for the end of a line. */
const CUT_WITHIN = 1 / 4;

export interface BatchRequest {
  readonly offset: number;
  /** Bytes of a piece; 0 in the first batch, which computes the size. */
  readonly size: number;
  /** The most pieces of this batch. */
  readonly pieces: number;
  /** The most pieces of all batches together. */
  readonly maxPieces: number;
}

export interface Batch {
  readonly pieces: readonly string[];
  /** The offset after the last byte of the pieces. */
  readonly end: number;
  /** Whether the pieces reach the end of the text. */
  readonly ended: boolean;
  readonly total: number | undefined;
  readonly size: number;
}

/**
 * Bytes of a piece, so that a text of `total` bytes has at most `maxPieces`, even if every piece is cut short at a line. A text
 * that is too large for that has more, of `MAX_PIECE_BYTES`.
 */
export function pieceBytes(total: number | undefined, maxPieces: number): number {
  const wanted = total === undefined ? MAX_PIECE_BYTES : Math.ceil(total / (1 - CUT_WITHIN) / maxPieces);
  return Math.min(MAX_PIECE_BYTES, Math.max(PIECE_BYTES, wanted));
}

/** @throws ResourceError `invalid` for anything but a single text, and the errors of the read */
export async function readBatch(
  options: ResourceOptions,
  uri: string,
  { offset, size, pieces: most, maxPieces }: BatchRequest,
  ctx: Context,
): Promise<Batch> {
  const length = Math.min(most * (size === 0 ? MAX_PIECE_BYTES : size), options.limits.maxReadBytes);
  const { resource } = await readMetadata(options, { uri }, { ...ctx, purpose: 'read' });
  const slice = await readSlice(options, uri, offset, length, ctx, textFirst(resource));
  const cut = slice && cutWindow(slice, { text: length, base64: 4 });
  if (slice === undefined || cut?.kind !== 'text')
    throw invalid('Only a single text in UTF-8 can be summarised; describe tells what this is', uri);
  const { total } = slice;
  const bytesOfPiece = size === 0 ? pieceBytes(total === undefined ? total : total - offset, maxPieces) : size;
  const reachesEnd = slice.ended && cut.start + cut.bytes.byteLength === total;
  const { pieces, taken } = split(cut.bytes, bytesOfPiece, most, reachesEnd);
  return {
    pieces,
    end: cut.start + taken,
    ended: reachesEnd && taken === cut.bytes.byteLength,
    total,
    size: bytesOfPiece,
  };
}

function split(
  bytes: Buffer,
  size: number,
  most: number,
  reachesEnd: boolean,
): { readonly pieces: readonly string[]; readonly taken: number } {
  const pieces: string[] = [];
  let at = 0;
  while (at < bytes.byteLength && pieces.length < most) {
    const rest = bytes.byteLength - at;
    // A rest that is too short is left to the next batch, which also reads the bytes after it.
    if (rest < size && !reachesEnd && pieces.length > 0) break;
    const end = rest <= size ? bytes.byteLength : at + cutAt(bytes.subarray(at, at + size));
    pieces.push(bytes.subarray(at, end).toString('utf8'));
    at = end;
  }
  return { pieces, taken: at };
}

/** The end of the last line, if it is in the last quarter of a piece; else the end of the last whole character. */
function cutAt(piece: Buffer): number {
  const line = piece.lastIndexOf(0x0a) + 1;
  return line >= piece.byteLength * (1 - CUT_WITHIN) ? line : piece.byteLength - trailingPartBytes(piece);
}
