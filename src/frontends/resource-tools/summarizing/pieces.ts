/** A text in pieces that a model can summarise one by one: cut between lines where there are some, never in a character. */
import type { Context } from '../../../core/context.ts';
import { invalid } from '../../../core/errors.ts';
import { textFirst } from '../../../core/formats/formats.ts';
import { trailingPartBytes } from '../../../core/text/text.ts';
import { readMetadata } from '../../resources/metadata.ts';
import type { ResourceOptions } from '../../resources/options.ts';
import { cutWindow } from '../reading/cut.ts';
import { readSlice } from '../reading/slice.ts';

/** Bytes of a piece, unless the text is so large that it would have too many. */
const PIECE_BYTES = 12 * 1024;
const MAX_PIECE_BYTES = 32 * 1024;

/** Part of a piece, at its end, in which the end of a line is looked for. */
const CUT_WITHIN = 1 / 4;

export interface BatchRequest {
  readonly offset: number;
  /** Bytes of a piece; 0 before that is known. */
  readonly size: number;
  /** At most this many now. */
  readonly pieces: number;
  /** And in all. */
  readonly maxPieces: number;
}

export interface Batch {
  readonly pieces: readonly string[];
  /** Behind the last byte that is in them. */
  readonly end: number;
  /** That is the end of the text. */
  readonly ended: boolean;
  readonly total: number | undefined;
  readonly size: number;
}

/** How large the pieces of a text are, so that, cut between lines, it has at most so many. */
export function pieceBytes(total: number | undefined, maxPieces: number): number {
  const wanted = total === undefined ? MAX_PIECE_BYTES : Math.ceil(total / (1 - CUT_WITHIN) / maxPieces);
  return Math.min(MAX_PIECE_BYTES, Math.max(PIECE_BYTES, wanted));
}

/** @throws ResourceError `invalid` for what is no text, and what the read throws */
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
    // A rest that is too short begins the next batch, with what follows it.
    if (rest < size && !reachesEnd && pieces.length > 0) break;
    const end = rest <= size ? bytes.byteLength : at + cutAt(bytes.subarray(at, at + size));
    pieces.push(bytes.subarray(at, end).toString('utf8'));
    at = end;
  }
  return { pieces, taken: at };
}

/** Behind the last line that ends in the last part of a piece, or else behind its last whole character. */
function cutAt(piece: Buffer): number {
  const line = piece.lastIndexOf(0x0a) + 1;
  return line >= piece.byteLength * (1 - CUT_WITHIN) ? line : piece.byteLength - trailingPartBytes(piece);
}
