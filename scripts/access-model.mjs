#!/usr/bin/env node
/**
 * Compares access decisions of the server with those of a small model: `npm run access-model -- --cases 100000`.
 * `npm run test:all` runs a small number of the same cases.
 *
 *   --cases N   the number of configurations, each with several questions. Default: 10,000
 *   --seed N    the seed of the first case; the report of a disagreement names its seed. Default: random
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});
for (const option of ['cases', 'seed']) {
  if (values[option] !== undefined && !/^\d+$/.test(values[option])) throw new Error(`--${option} is a whole number`);
}

const seed = values.seed ?? String(Math.trunc(Math.random() * 2 ** 31));
const { status } = spawnSync(
  process.execPath,
  [
    fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)),
    'run',
    'test/security/access/model',
    '--reporter=verbose',
  ],
  {
    cwd: fileURLToPath(new URL('../', import.meta.url)),
    env: { ...process.env, VITRINE_ACCESS_CASES: values.cases, VITRINE_ACCESS_SEED: seed },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
