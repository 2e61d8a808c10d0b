/** Waits for work with a limit in time. */

/** Returned instead of a result by `inTime` if the work takes too long. */
export const LATE = Symbol('late');

/** Settles like the work, or resolves to `LATE` after `ms` milliseconds. The work then goes on. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, ms, LATE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
