/** The runner of the fuzzer: it leaves out no case, and ends. */
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runTarget } from './run.ts';

const target = (check: (value: number) => Promise<void>) => ({
  name: 'made up',
  share: 1,
  property: fc.asyncProperty(fc.nat(1_000_000), check),
});

describe('a target of the fuzzer', () => {
  it('runs all its cases, even if they take longer than a failing case may be made smaller', async () => {
    let runs = 0;
    const slow = target(async () => {
      runs++;
      await pause(2);
    });
    await runTarget(slow, 1, 50, 1);
    expect(runs).toBe(50);
  });

  it('reports the smallest failing case, its seed, and the number of cases that ran', async () => {
    let runs = 0;
    const failing = target(async (value) => {
      runs++;
      if (runs >= 20 && value > 10) throw new Error(`too large: ${value}`);
    });
    await expect(runTarget(failing, 7, 50)).rejects.toThrow(
      /^too large: 11\n.* --only made up --seed 7 --cases 1000\n {2}after 20 of 50 cases, made smaller \d+ times: \[11\]$/,
    );
  });

  it('reports a case in time that could be made smaller for ever', async () => {
    let failed = 0;
    const slow = target(async (value) => {
      if (failed > 0) await pause(100);
      if (value > 10 && ++failed > 0) throw new Error(`too large: ${value}`);
    });
    await expect(runTarget(slow, 7, 50, 250)).rejects.toThrow(/^too large: \d+\n/);
    expect(failed).toBeLessThan(10);
  });

  it('reports a case that fails only once', async () => {
    let runs = 0;
    const flaky = target(async (value) => {
      if (++runs === 5) throw new Error(`once: ${value}`);
    });
    await expect(runTarget(flaky, 7, 50)).rejects.toThrow(/^once: (\d+)\n.*\n.*after 5 of 50 .*: \[\1\]$/);
    expect(runs).toBe(6);
  });

  it('fails if it leaves out nearly all its cases', async () => {
    await expect(
      runTarget(
        target(async () => void fc.pre(false)),
        7,
        50,
      ),
    ).rejects.toThrow('made up: only 0 of 50 cases ran');
  });
});
