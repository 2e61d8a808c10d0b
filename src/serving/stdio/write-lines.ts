/** Writes lines to an output in order; a line with long texts is written in pieces, at the speed of the reader. */
import type { Writable } from 'node:stream';
import { type Answer, LongAnswer } from '../dispatch/answer.ts';

export interface LineWriter {
  write(answer: Answer): void;
  /** Resolves when the output has taken everything, or has failed; undefined where nothing waits. */
  readonly rest: Promise<void> | undefined;
}

/** @param written called when nothing waits any more */
export function createLineWriter(output: Writable, written: () => void): LineWriter {
  /** The answers that wait while another one is written in pieces. */
  let waiting: Answer[] = [];
  let rest: Promise<void> | undefined;

  async function writePieces(answer: LongAnswer): Promise<void> {
    for (const piece of answer.pieces()) {
      if (!output.writable) break;
      await taken(output, piece);
    }
    answer.release();
    if (output.writable) output.write('\n');
  }

  async function writeAll(first: LongAnswer): Promise<void> {
    await writePieces(first);
    while (waiting.length > 0) {
      const next = waiting;
      waiting = [];
      for (const each of next) {
        if (each instanceof LongAnswer) await writePieces(each);
        else if (output.writable) output.write(`${each}\n`);
      }
    }
    rest = undefined;
    written();
  }

  return {
    write(answer) {
      if (rest !== undefined) waiting.push(answer);
      else if (answer instanceof LongAnswer) rest = writeAll(answer);
      else if (output.writable) output.write(`${answer}\n`);
    },
    get rest() {
      return rest;
    },
  };
}

/** Resolves when the output has taken the piece, or has ended. */
const taken = (output: Writable, piece: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      output.off('close', done);
      resolve();
    };
    output.once('close', done);
    output.write(piece, done);
  });
