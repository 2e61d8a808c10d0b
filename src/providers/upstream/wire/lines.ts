/** Lines out of chunks. A line may lie in many of them; of one that is too long only both ends are kept. */
import { createPieces } from './pieces.ts';

/** Kept of each end of a line that is too long, in bytes: enough to see whose answer it is. */
const ENDS_BYTES = 1_024;

export interface Line {
  readonly text: string;
  readonly bytes: number;
  /** Whether it was too long: then the text is its two ends. */
  readonly cut: boolean;
}

export interface Lines {
  push(chunk: Buffer): void;
  /** The next whole line; undefined where there is none yet. */
  next(): Line | undefined;
  /** Bytes of the line that is not whole yet. */
  readonly unfinished: number;
  /** Forgets everything. */
  clear(): void;
}

export function createLines(maxBytes: number): Lines {
  /** Chunks that were not looked at yet, and where the first of them is looked at next. */
  let chunks: Buffer[] = [];
  let from = 0;
  /** Of the line that has begun: all of it, or its end where it is too long. */
  const pieces = createPieces();
  let length = 0;
  let head: Buffer | undefined;

  function keep(part: Buffer): void {
    length += part.length;
    pieces.add(head === undefined ? part : part.subarray(-ENDS_BYTES));
    if (length <= maxBytes || pieces.length <= 2 * ENDS_BYTES) return;
    const kept = pieces.take();
    // Copies: a part of a chunk would hold all of it.
    head ??= Buffer.from(kept.subarray(0, ENDS_BYTES));
    pieces.add(Buffer.from(kept.subarray(-ENDS_BYTES)));
  }

  function whole(): Line {
    const rest = pieces.take();
    const line: Line =
      length <= maxBytes
        ? { text: rest.toString('utf8'), bytes: length, cut: false }
        : { text: `${head?.toString('latin1') ?? ''}\n${rest.toString('latin1')}`, bytes: length, cut: true };
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

const ID = String.raw`"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.){0,256}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}`);
const ID_LAST = new RegExp(String.raw`${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);
const METHOD_FIRST = new RegExp(String.raw`^\s*\{\s*(?:(?:${VERSION}|${ID})\s*,\s*){0,2}"method"`);

/** The ids at the two ends of a message that is too large to be parsed: those that it may be the answer to. */
export function idsAtEnds(text: string): readonly unknown[] {
  const [head, tail] = [text.slice(0, ENDS_BYTES), text.slice(-ENDS_BYTES)];
  if (METHOD_FIRST.test(head)) return [];
  const ends = [ID_FIRST.exec(head), ID_LAST.exec(tail)];
  return ends.flatMap((found) => {
    const id = found?.[1];
    return id === undefined ? [] : [JSON.parse(id) as unknown];
  });
}
