/** An allowance is used up and grows back: so much at once, and so much more in each second. */

export interface Rate {
  /** The most that can be used at once; it is there after a long enough pause. */
  readonly burst: number;
  readonly perSecond: number;
}

export interface Allowance {
  /** Uses up that much; false, and nothing is used, where there is less. */
  take(amount: number): boolean;
  /** How long it takes until that much is there, in milliseconds; 0 where it is. */
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
