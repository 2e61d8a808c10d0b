/** Milliseconds between the first change and the look at all changes up to then. */
const GATHER_MS = 20;

export interface Rest {
  /** Waits for so many milliseconds, or until shortly after `wake`, or until the signal aborts. One call may run at a time. */
  wait(milliseconds: number): Promise<void>;
  /** Ends the wait, or makes the next one short if none is running. */
  wake(): void;
}

/** Creates the pause of a loop that has to do something from time to time, and soon after `wake`. */
export function createRest(signal: AbortSignal): Rest {
  /** Whether `wake` was called while no wait was running. */
  let isDue = false;
  let shorten: (() => void) | undefined;
  return {
    wait: (milliseconds) =>
      new Promise((resolve) => {
        const timer = setTimeout(done, milliseconds).unref();
        let gathering: NodeJS.Timeout | undefined;
        function done(): void {
          clearTimeout(timer);
          clearTimeout(gathering);
          signal.removeEventListener('abort', done);
          shorten = undefined;
          resolve();
        }
        shorten = () => {
          gathering ??= setTimeout(done, GATHER_MS);
        };
        if (isDue) shorten();
        isDue = false;
        signal.addEventListener('abort', done, { once: true });
        if (signal.aborted) done();
      }),
    wake() {
      if (shorten === undefined) isDue = true;
      else shorten();
    },
  };
}
