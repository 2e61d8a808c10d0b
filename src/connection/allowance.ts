/** An allowance is used up and grows back: it allows a burst at once, and then a steady rate. */

export interface Rate {
  /** The most that can be used at once, after a long enough pause. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Allowance {
  /** Uses up an amount. Returns false, and uses nothing, if less is left. */
  take(amount: number): boolean;
  /** Returns the milliseconds until the amount is there, or the whole burst if that is less; 0 if it is there now. */
  waitMs(amount: number): number;
}

/** @param now in milliseconds */
export function createAllowance({ burst, perSecond }: Rate, now: () => number = () => performance.now()): Allowance {
  let left = burst;
  let at = now();

  function grow(): void {
    const time = now();
    left = Math.min(burst, left + ((time - at) * perSecond) / 1_000);
    at = time;
  }

  return {
    take(amount) {
      grow();
      if (left < amount) return false;
      left -= amount;
      return true;
    },
    waitMs(amount) {
      grow();
      return left >= amount ? 0 : Math.ceil(((Math.min(amount, burst) - left) * 1_000) / perSecond);
    },
  };
}
