/** Scans a content of any size while it streams, piece by piece, each together with the bytes around it. */
import { type BodyContent, chunksOf } from '../../core/body.ts';
import { type Finding, within } from './mask.ts';
import { MARGIN_BYTES } from './scan-program.ts';
import type { Asker, Scanner } from './scanner.ts';

const PIECE_BYTES = 256 * 1024;

/** A piece of a content, unchanged, and the places of secrets in it. The first and the last secret may reach beyond its ends. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly findings: readonly Finding[];
}

/** Yields the pieces of a content, in order. A secret that lies across two pieces is found in both. */
export async function* piecesOf(content: BodyContent, scanner: Scanner, asker: Asker): AsyncIterable<Piece> {
  /** The bytes that are needed further on: the margin before the next piece, and what follows it. */
  let held = Buffer.alloc(0);
  /** The beginning of the next piece in `held`. */
  let begin = 0;
  const take = async (end: number): Promise<Piece> => {
    const findings = await scanner.scan(Buffer.from(held), asker);
    const piece = {
      bytes: held.subarray(begin, end),
      findings: within(findings, begin, end).map((finding) => ({
        ...finding,
        start: finding.start - begin,
        end: finding.end - begin,
      })),
    };
    const from = Math.max(0, end - MARGIN_BYTES);
    held = held.subarray(from);
    begin = end - from;
    return piece;
  };
  let waiting: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(content)) {
    asker.signal.throwIfAborted();
    waiting.push(chunk);
    size += chunk.byteLength;
    if (size < PIECE_BYTES + MARGIN_BYTES) continue;
    held = Buffer.concat([held, ...waiting]);
    waiting = [];
    while (held.byteLength - begin >= PIECE_BYTES + MARGIN_BYTES) yield await take(begin + PIECE_BYTES);
    size = 0;
  }
  held = Buffer.concat([held, ...waiting]);
  while (held.byteLength > begin) yield await take(Math.min(held.byteLength, begin + PIECE_BYTES));
}
