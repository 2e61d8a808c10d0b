/** Keeps the end of a program's standard error, and finds the line that tells why the program failed. */

/** The most characters that are kept, and the most of one line that are shown. */
const MAX_KEPT = 4_096;
const MAX_SHOWN = 200;

export interface StderrTail {
  add(text: string): void;
  /** The line that best explains a failure; undefined if nothing was written. */
  readonly line: string | undefined;
}

export function createStderrTail(): StderrTail {
  let kept = '';
  return {
    add(text) {
      kept = (kept + text).slice(-MAX_KEPT);
    },
    get line() {
      return tellingLine(kept);
    },
  };
}

/** Returns the first line that mentions an error, or else the last one. */
export function tellingLine(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const telling = lines.find((line) => /error/i.test(line)) ?? lines.findLast((line) => line !== '');
  return telling?.slice(0, MAX_SHOWN);
}
