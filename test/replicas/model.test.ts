/**
 * Replicas against a model, under faults of their bus. `VITRINE_MODEL_RUNS` sets the number of random sequences. Without it, a few fixed
 * sequences run.
 */
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { it } from 'vitest';
import { begin, commands, end } from './model.ts';

const { VITRINE_MODEL_RUNS } = process.env;
const numRuns = Number(VITRINE_MODEL_RUNS ?? 25);
const seed = VITRINE_MODEL_RUNS === undefined ? 20_261_126 : randomInt(2 ** 31);

it('replicas forget no session and miss no change, under any faults of replicas and bus', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      const { model, real } = await begin();
      await using _closed = real;
      await fc.asyncModelRun(() => ({ model, real }), sequence);
      await end(model, real);
    }),
    { numRuns, seed, endOnFailure: false },
  );
}, 3_600_000);
