/** Writes the progress of `get` as one line: a bar, counts, the rate, and the remaining time. */
import type { GetProgress } from '../../../client/node/index.ts';
import { sizeText } from './rows.ts';

/** Characters of the bar. */
const WIDTH = 20;

/** The milliseconds over which the rate is averaged. */
const WINDOW_MS = 5_000;

/** The remaining time is shown only after this many milliseconds. */
const FIRST_MS = 1_000;

interface Moment {
  readonly at: number;
  readonly done: number;
  readonly bytes: number;
}

/**
 * Returns a function that formats progress. Call it for every report, in order, because it averages over the last ones.
 * @param now the time in milliseconds
 */
export function createPace(now: () => number = () => performance.now()): (progress: GetProgress) => string {
  const begun = now();
  /** Samples within the averaging time, oldest first. */
  let moments: Moment[] = [{ at: begun, done: 0, bytes: 0 }];

  return ({ written, unchanged, skipped, planned, failed, found, foundAll, bytes }) => {
    const done = written + unchanged + skipped + planned + failed;
    const at = now();
    moments = [...moments.filter((moment) => at - moment.at <= WINDOW_MS), { at, done, bytes }];
    const [oldest] = moments as [Moment];
    const seconds = (at - oldest.at) / 1_000;
    const share = found === 0 ? 0 : done / found;
    const filled = Math.floor(share * WIDTH);
    const steady = seconds > 0 && at - begun >= FIRST_MS && done > oldest.done;
    return [
      foundAll
        ? `[${'='.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${done} of ${found}`
        : `${done} of ${found} so far`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      `${sizeText(bytes)} read`,
      ...(seconds > 0 && bytes > oldest.bytes ? [`${sizeText(Math.round((bytes - oldest.bytes) / seconds))}/s`] : []),
      ...(foundAll && steady ? [`${timeText(((found - done) * seconds) / (done - oldest.done))} left`] : []),
    ].join(', ');
  };
}

/** Writes a time as `8 s`, `2:05 min`, `1:02 h`. */
function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 3_600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3_600)}:${two(Math.floor((whole % 3_600) / 60))} h`;
}
