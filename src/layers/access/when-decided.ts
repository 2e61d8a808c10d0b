/**
 * Uses a decision: at once where it is there, as with rules, and later where a policy takes its time. Each read asks
 * several times, so nothing waits that need not.
 */
export function whenDecided<T, U>(decided: T | Promise<T>, use: (decided: T) => U | Promise<U>): U | Promise<U> {
  return decided instanceof Promise ? decided.then(use) : use(decided);
}
