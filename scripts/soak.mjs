#!/usr/bin/env node
/**
 * Runs the soak by hand: `npm run soak -- --operations 200000`. `npm run test:all` runs a small number of the same operations.
 *
 *   --operations N   the number of operations. Default: 20,000
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { operations: { type: 'string', default: '20000' } } });
if (!/^\d+$/.test(values.operations)) throw new Error('--operations is a whole number');

const { status } = spawnSync(
  process.execPath,
  [
    fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url)),
    'run',
    'test/soak/soak.test.ts',
    'test/soak/kept-answers.test.ts',
    '--reporter=verbose',
  ],
  {
    cwd: fileURLToPath(new URL('../', import.meta.url)),
    env: { ...process.env, VITRINE_SOAK_OPERATIONS: values.operations },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
