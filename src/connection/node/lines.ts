/** Cuts chunks into lines. A line may span many chunks; of a line that is too long only both ends are kept. */
import { END_LENGTH } from '../ids-at-ends.ts';
import { createPieces, textOf } from '../pieces.ts';

export interface Line {
  readonly text: string;
  readonly bytes: number;
  /** Whether the line was too long; then `text` has only its two ends. */
  readonly cut: boolean;
}

export interface Lines {
  push(chunk: Buffer): void;
  /** Returns the next complete line; undefined where there is none yet. */
  next(): Line | undefined;
  /** Bytes of the incomplete line. */
  readonly unfinished: number;
  /** Forgets everything. */
  clear(): void;
}

export function createLines(maxBytes: number): Lines {
  /** Unprocessed chunks, and the position in the first of them. */
  let chunks: Buffer[] = [];
  let from = 0;
  /** The incomplete line: all of it, or its end where it is too long. */
  const pieces = createPieces();
  let length = 0;
  let head: Uint8Array | undefined;

  function keep(part: Buffer): void {
    length += part.length;
    pieces.add(head === undefined ? part : part.subarray(-END_LENGTH));
    if (length <= maxBytes || pieces.length <= 2 * END_LENGTH) return;
    const kept = pieces.take();
    // A copy, since a part of a chunk would keep the whole chunk in memory.
    head ??= new Uint8Array(kept.subarray(0, END_LENGTH));
    pieces.add(new Uint8Array(kept.subarray(-END_LENGTH)));
  }

  function whole(): Line {
    const rest = pieces.take();
    const line: Line =
      length <= maxBytes
        ? { text: textOf(rest), bytes: length, cut: false }
        : { text: `${textOf(head ?? NOTHING)}\n${textOf(rest)}`, bytes: length, cut: true };
    length = 0;
    head = undefined;
    return line;
  }

  return {
    push: (chunk) => void chunks.push(chunk),
    next() {
      for (;;) {
        const [chunk] = chunks;
        if (chunk === undefined) return undefined;
        const at = chunk.indexOf(NEWLINE, from);
        keep(chunk.subarray(from, at === -1 ? chunk.length : at));
        if (at === -1 || at === chunk.length - 1) {
          chunks.shift();
          from = 0;
        } else from = at + 1;
        if (at !== -1) return whole();
      }
    },
    get unfinished() {
      return length;
    },
    clear() {
      chunks = [];
      from = 0;
      length = 0;
      head = undefined;
      pieces.take();
    },
  };
}

const NEWLINE = 0x0a;
const NOTHING = new Uint8Array();
