/** Reads an audit file line by line, without holding more of it than one line. */
import { createReadStream } from 'node:fs';
import { MAX_LINE_BYTES } from './chain.ts';

export interface RawLine {
  readonly text: string;
  /** Whether it ends with a line feed and has at most `MAX_LINE_BYTES`. */
  readonly whole: boolean;
}

export async function* linesOf(file: string): AsyncIterable<RawLine> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): string => {
    const text = Buffer.concat(parts).toString('utf8');
    parts = [];
    size = 0;
    return text;
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      parts.push(chunk.subarray(from, end));
      size += end - from;
      from = end + 1;
      const tooLong = size > MAX_LINE_BYTES;
      yield { text: take(), whole: !tooLong };
    }
    size += chunk.length - from;
    // A line that is too long is no line of an audit, so only its beginning is kept.
    if (size <= MAX_LINE_BYTES || parts.length === 0) parts.push(chunk.subarray(from));
  }
  if (size > 0) yield { text: take(), whole: false };
}
