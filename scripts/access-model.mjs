#!/usr/bin/env node
/**
 * Compares the server with the model of access by hand: `npm run access-model -- --cases 100000`. `npm run test:all` runs a small
 * number of the same cases.
 *
 *   --cases N   how many configurations, each with several questions. Default: 10,000
 *   --seed N    where they begin; what is printed of a disagreement has it. Default: random
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
