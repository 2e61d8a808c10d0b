/** Keeps the end of what a program says on standard error, and finds the line that tells why the program is of no use. */

/** The most characters that are kept, and those of one line that are shown. */
const MAX_KEPT = 4_096;
const MAX_SHOWN = 200;

export interface SaidLast {
  add(text: string): void;
  /** Undefined where nothing was said. */
  readonly line: string | undefined;
}

export function createSaidLast(): SaidLast {
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

/** Of several lines the one that speaks of an error, or else the last one. */
export function tellingLine(text: string): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const line = lines.find((each) => /error/i.test(each)) ?? lines.findLast((each) => each !== '');
  return line?.slice(0, MAX_SHOWN);
}
