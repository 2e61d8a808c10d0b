/**
 * Uses a decision: at once if it is there, as with rules, or later if the policy is asynchronous. Each read needs several
 * decisions, so nothing waits without need.
 */
export function whenDecided<T, U>(decided: T | Promise<T>, use: (decided: T) => U | Promise<U>): U | Promise<U> {
  return decided instanceof Promise ? decided.then(use) : use(decided);
}
