#!/usr/bin/env node
/**
 * Fuzzes the engine by hand: `npm run fuzz -- --cases 2000000`. `npm run test:all` runs a small number of the same cases.
 *
 *   --cases N   the number of cases. Default: 100,000
 *   --seed N    the seed of the first round; a finding prints the seed of its round. Default: random
 *   --only T    one target: endpoint, templates, sockets or stdio. Default: all, each with its share
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const TARGETS = ['endpoint', 'templates', 'sockets', 'stdio'];

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string' }, only: { type: 'string' } },
});
for (const option of ['cases', 'seed']) {
  if (values[option] !== undefined && !/^\d+$/.test(values[option])) throw new Error(`--${option} is a whole number`);
}
if (values.only !== undefined && !TARGETS.includes(values.only))
  throw new Error(`--only is one of ${TARGETS.join(', ')}`);

const given = { VITRINE_FUZZ_CASES: values.cases, VITRINE_FUZZ_SEED: values.seed, VITRINE_FUZZ_ONLY: values.only };
const env = { ...process.env, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) };
const { status } = spawnSync(
  process.execPath,
  [
    fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)),
    'run',
    'test/fuzz',
    '--reporter=verbose',
  ],
  { cwd: fileURLToPath(new URL('../', import.meta.url)), env, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
