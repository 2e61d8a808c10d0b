/**
 * Standard input whose end waits for the answers: `printf '...' | vitrine serve docs` says everything at once and closes
 * its end, and means to read what comes back. The SDK drops whatever is not answered when its input ends.
 */
import { type Readable, Transform } from 'node:stream';
import { linesOf } from './unread-lines.ts';

/** How long the end waits for answers, in milliseconds. */
const GRACE_MS = 5_000;

/** How often it is looked whether all is answered, in milliseconds. */
const LOOK_MS = 5;

export interface LastingInput {
  /** Gives no more than one line at a time. */
  readonly input: Readable;
  /** Lets go of the source: it is not read any more, and does not keep the process alive. */
  release(): void;
}

/** @param isIdle whether everything that was read has been answered */
export function lastingInput(source: Readable, isIdle: () => boolean): LastingInput {
  const input = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (const piece of linesOf(chunk)) this.push(piece);
      done();
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const endWhenIdle = (): void => {
    const deadline = Date.now() + GRACE_MS;
    const look = (): void => {
      if ((input.readableLength === 0 && isIdle()) || Date.now() > deadline) input.end();
      else timer = setTimeout(look, LOOK_MS);
    };
    // What came last is handed on in this turn, so it is looked in the next.
    timer = setTimeout(look, LOOK_MS);
  };
  const fail = (error: Error): void => void input.destroy(error);
  source.once('end', endWhenIdle);
  source.once('error', fail);
  source.pipe(input, { end: false });
  return {
    input,
    release() {
      clearTimeout(timer);
      source.off('end', endWhenIdle);
      source.off('error', fail);
      source.unpipe(input);
      source.pause();
    },
  };
}
