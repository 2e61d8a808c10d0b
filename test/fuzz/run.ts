/** Rounds of cases for every target, from one seed. The engine is checked between rounds. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { until } from '../e2e/waiting.ts';
import { type Place, readsWell } from './place.ts';
import type { Target } from './targets/target.ts';

export interface Fuzzing {
  readonly seed: number;
  /** The number of cases of all targets together. */
  readonly cases: number;
  /** Called after each round. */
  readonly progress?: ((done: number) => void) | undefined;
}

/** The number of cases of a round. */
export const ROUND = 1_000;
/** Bytes that the heap may grow between the first round and the last. */
const MAX_GROWTH = 48 * 1024 * 1024;
/** Timers and sockets that may be left at the end more than after the first round, because the last round has not closed them yet. */
const MAX_HANDLES = 8;
/** The most characters of a case that are printed. */
const MAX_REPORT = 4_000;
/** The longest that a failing case is made smaller, in milliseconds. */
const MAX_SHRINKING_MS = 120_000;

/** @throws an error with the seed and the smallest failing case */
export async function fuzz(
  place: Place,
  targets: readonly Target[],
  { seed, cases, progress }: Fuzzing,
): Promise<void> {
  const unhandled: unknown[] = [];
  const keep = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', keep);
  process.on('uncaughtExceptionMonitor', keep);
  try {
    let before: { readonly heap: number; readonly handles: number } | undefined;
    for (let done = 0; done < cases; done += ROUND) {
      const round = seed + done / ROUND;
      for (const target of targets) {
        const count = Math.max(1, Math.round(Math.min(ROUND, cases - done) * target.share));
        await runTarget(target, round, count);
      }
      await readsWell(place);
      if (unhandled.length > 0) throw new Error(`an unhandled rejection in round ${round}`, { cause: unhandled[0] });
      before ??= await measure();
      progress?.(Math.min(cases, done + ROUND));
    }
    if (before !== undefined) await expectNoGrowth(before);
  } finally {
    process.off('unhandledRejection', keep);
    process.off('uncaughtExceptionMonitor', keep);
  }
}

/**
 * Runs all cases of a target, however long they take. Only making a failing case smaller has a time limit.
 * @throws an error with the seed and the smallest failing case
 */
export async function runTarget(
  { name, property }: Target,
  seed: number,
  numRuns: number,
  maxShrinkingMs = MAX_SHRINKING_MS,
): Promise<void> {
  const found = await fc.check(property, { seed, numRuns, endOnFailure: true });
  if (!found.failed) return;
  if (found.counterexample === null) throw new Error(`${name}: only ${found.numRuns} of ${numRuns} cases ran`);
  const repeated = await fc.check(property, {
    seed,
    ...(found.counterexamplePath !== null && { path: found.counterexamplePath }),
    numRuns: 1,
    interruptAfterTimeLimit: maxShrinkingMs,
    markInterruptAsFailure: false,
  });
  // A case that fails only once is reported as it was.
  const { counterexample, numShrinks, errorInstance } = repeated.failed ? repeated : found;
  // Not as fast-check writes it, because some cases are nested deeper than it can go.
  const report = `after ${found.numRuns} of ${numRuns} cases, made smaller ${numShrinks} times: ${brief(counterexample)}`;
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(`${why}\n  npm run fuzz -- --only ${name} --seed ${seed} --cases ${ROUND}\n  ${report}`, {
    cause: errorInstance,
  });
}

/** A case as JSON, with numbers for deeply nested and repeated parts. */
const brief = (it: unknown): string =>
  JSON.stringify(it)
    .replace(
      /(\{"a":|[[\]}]|(.{1,6}?)\2{8})\1{15,}/gs,
      (run, unit: string) => `${unit} (${Math.round(run.length / unit.length)} times)`,
    )
    .replace(/[^\u0020-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .slice(0, MAX_REPORT);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

async function measure(): Promise<{ heap: number; handles: number }> {
  // Objects of the last turns become garbage only after some more turns.
  for (let times = 0; times < 5; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  return { heap: process.memoryUsage().heapUsed, handles: process.getActiveResourcesInfo().length };
}

async function expectNoGrowth(before: { readonly heap: number; readonly handles: number }): Promise<void> {
  let after = before;
  await until(async () => {
    after = await measure();
    return after.heap - before.heap < MAX_GROWTH && after.handles - before.handles <= MAX_HANDLES;
  }, 'memory and handles to be what they were').catch((cause: unknown) => {
    throw new Error(
      `grown from ${JSON.stringify(before)} to ${JSON.stringify(after)}: ${process.getActiveResourcesInfo()}`,
      { cause },
    );
  });
}
