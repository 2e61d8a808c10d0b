/** Reads an input line by line, with a limit on the length of a line. */
import type { Readable } from 'node:stream';

/** The most bytes of one line, together with the rest of the chunk that it ends in. */
const MAX_BYTES = 10 * 1024 * 1024;

const LINE_FEED = 0x0a;

export interface LineReader {
  /** Called with each line, as soon as it is complete. */
  line(text: string): void;
  /** Called once at the end of the input. @param error why it ended early: the input failed, or a line is too long */
  end(error?: Error): void;
}

/** @returns stops reading the input, so that it does not keep the process alive */
export function readLines(input: Readable, reader: LineReader): () => void {
  let pieces: Buffer[] = [];
  let size = 0;
  let over = false;

  function finish(error?: Error): void {
    if (over) return;
    over = true;
    release();
    reader.end(error);
  }

  function take(chunk: Buffer): void {
    if (size + chunk.length > MAX_BYTES) {
      finish(new Error(`A line has at most ${MAX_BYTES} bytes`));
      return;
    }
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1 && !over; at = chunk.indexOf(LINE_FEED, from)) {
      pieces.push(chunk.subarray(from, at));
      const line = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
      pieces = [];
      size = 0;
      from = at + 1;
      reader.line(line.toString('utf8').replace(/\r$/, ''));
    }
    if (from < chunk.length) {
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
    }
  }

  const onData = (chunk: Buffer | string): void => take(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
  const onEnd = (): void => finish();
  function release(): void {
    over = true;
    input.off('data', onData);
    input.off('end', onEnd);
    input.off('close', onEnd);
    input.off('error', finish);
    // Later errors of the input are ignored.
    input.on('error', () => {});
    if (input.listenerCount('data') === 0) input.pause();
  }

  if (input.readableEnded || input.destroyed) setImmediate(onEnd);
  input.on('data', onData);
  input.on('end', onEnd);
  input.on('close', onEnd);
  input.on('error', finish);
  return release;
}
