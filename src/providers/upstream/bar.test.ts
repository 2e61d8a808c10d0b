import { expect, it, vi } from 'vitest';
import { ResourceError } from '../../core/errors.ts';
import { createBar } from './bar.ts';

it('a server that is cut off repeatedly is left alone for longer each time, up to a limit', () => {
  vi.useFakeTimers();
  try {
    const bar = createBar();
    expect(bar.leftMs).toBe(0);
    const waits: number[] = [];
    for (let times = 0; times < 12; times++) {
      bar.close(new ResourceError('unavailable', `cut off ${times}`));
      waits.push(bar.leftMs);
      vi.advanceTimersByTime(bar.leftMs);
    }
    expect(waits[0]).toBeLessThanOrEqual(2_000);
    expect(waits[4]).toBeGreaterThanOrEqual(16_000);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(150_000);
    expect(waits.at(-1)).toBeLessThanOrEqual(300_000);
    expect(bar.reason?.message).toBe('cut off 11');
    vi.advanceTimersByTime(3_600_000);
    bar.close(new ResourceError('unavailable', 'once more'));
    expect(bar.leftMs).toBeLessThanOrEqual(2_000);
  } finally {
    vi.useRealTimers();
  }
});
