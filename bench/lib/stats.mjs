/** Order statistics of small samples. */

/**
 * The value below which a share of the sample lies, interpolated.
 * @param {ArrayLike<number>} values
 * @param {number} share from 0 to 1
 */
export function quantile(values, share) {
  if (values.length === 0) return Number.NaN;
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * share;
  const low = Math.floor(at);
  const high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/** @param {ArrayLike<number>} values */
export const median = (values) => quantile(values, 0.5);

/**
 * The median of ratios taken pair by pair: both of a pair were measured in the same round, next to each other, so that
 * a machine that slows down for a while slows both.
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 */
export const medianRatio = (ours, theirs) => median(ours.map((value, round) => value / theirs[round]));

/**
 * The median of differences taken in the same way.
 * @param {readonly number[]} ours
 * @param {readonly number[]} theirs
 */
export const medianDifference = (ours, theirs) => median(ours.map((value, round) => value - theirs[round]));
