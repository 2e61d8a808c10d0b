/** How far `get` is, in one line: a bar, counts, how fast, and how long it may still take. */
import type { GetProgress } from '../../../client/node/index.ts';
import { sizeText } from './rows.ts';

/** Characters of the bar. */
const WIDTH = 20;

/** The time that a rate is taken over, in milliseconds: long enough to be steady, and short enough to follow. */
const WINDOW_MS = 5_000;

/** Nothing is said of the time that is left before so much of it has passed, in milliseconds. */
const FIRST_MS = 1_000;

interface Moment {
  readonly at: number;
  readonly done: number;
  readonly bytes: number;
}

/** @param now in milliseconds @returns what is said of each progress; it is told of all of them, in their order */
export function createPace(now: () => number = () => performance.now()): (progress: GetProgress) => string {
  const begun = now();
  /** Moments of the window, the oldest first. */
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

/** `8 s`, `2:05 min`, `1:02 h`. */
function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 3_600) return `${Math.floor(whole / 60)}:${two(whole % 60)} min`;
  return `${Math.floor(whole / 3_600)}:${two(Math.floor((whole % 3_600) / 60))} h`;
}
