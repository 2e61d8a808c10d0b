/** Tells whether the times of a file or directory show each later change. */
import type { BigIntStats } from 'node:fs';

/**
 * Milliseconds that must lie between the last change and the reading. The clock of file times goes in ticks of at most 10 ms,
 * so two changes within one tick leave the same times.
 */
const SETTLED_MS = 50;

/**
 * Whether the last change is so long ago that the next one gets another time. A program can set `mtime`, so `ctime` counts, too.
 * A time in the future means that the clock was set back.
 */
export const isSettled = ({ mtimeMs, ctimeMs }: Pick<BigIntStats, 'mtimeMs' | 'ctimeMs'>, now = Date.now()): boolean =>
  now - Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs) > SETTLED_MS;
