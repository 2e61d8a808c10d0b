/** Work that somebody waits for a while only. */

/** Stands for the result of work that took longer than somebody waits. */
export const LATE = Symbol('late');

/** Settles as the work does, or resolves to `LATE` after so many milliseconds. The work goes on then. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, ms, LATE);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
