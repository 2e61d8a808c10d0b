/** Gives a search the lines of a content, with each secret covered so that the search cannot match it. */

import type { BodyContent } from '../../core/body.ts';
import type { Asker, Scanner } from './scanner.ts';
import { piecesOf } from './streaming.ts';

/** The most bytes at the beginning of a line that are matched, as in other searches (`core/search.ts`). */
const MAX_LINE_BYTES = 64 * 1024;

const NEWLINE = 10;

export interface CoveredLine {
  /** The line without its end. Each byte of a secret is replaced by a newline, which no other byte of a line is. */
  readonly bytes: Buffer;
  /** The number of the line, from 1. */
  readonly line: number;
  /** The offset of the line in the content, in bytes. */
  readonly offset: number;
  /** Whether there is a secret in the line, even in the part that is too far from its beginning to be in `bytes`. */
  readonly covered: boolean;
}

export interface LinesOptions {
  readonly scanner: Scanner;
  /** Called for each secret. */
  readonly onSecret: () => void;
  /** Called with the number of bytes of each piece; throws when the content is longer than a search may read. */
  readonly take: (bytes: number) => void;
}

/** Yields the lines. After a NUL, which shows that the content is binary, it yields none, but still scans the rest. */
export async function* coveredLines(
  content: BodyContent,
  { scanner, onSecret, take }: LinesOptions,
  asker: Asker,
): AsyncIterable<CoveredLine> {
  let parts: Uint8Array[] = [];
  let kept = 0;
  let covered = false;
  let line = 1;
  let offset = 0;
  let at = 0;
  let binary = false;
  const put = (part: Uint8Array): void => {
    covered ||= part.includes(NEWLINE);
    const room = MAX_LINE_BYTES - kept;
    if (room <= 0) return;
    parts.push(part.subarray(0, room));
    kept += Math.min(room, part.byteLength);
  };
  for await (const { bytes, findings } of piecesOf(content, scanner, asker)) {
    take(bytes.byteLength);
    if (findings.length > 0) onSecret();
    binary ||= bytes.includes(0);
    if (binary) continue;
    const shown = Uint8Array.from(bytes);
    for (const { start, end } of findings) shown.fill(NEWLINE, Math.max(0, start), Math.max(0, end));
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      put(shown.subarray(start, end));
      yield { bytes: Buffer.concat(parts), line: line++, offset, covered };
      parts = [];
      kept = 0;
      covered = false;
      start = end + 1;
      offset = at + start;
    }
    put(shown.subarray(start));
    at += bytes.byteLength;
  }
  if (!binary && at > offset) yield { bytes: Buffer.concat(parts), line, offset, covered };
}
