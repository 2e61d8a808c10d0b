import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import SlowestFiles from './test/runner/slowest.ts';

/**
 * What takes minutes, or needs what others made: databases, object stores, browsers, servers and clients of other makers. And what
 * tries very many cases of what `npm test` tries some of: all attacks on paths, all cells of access, races.
 */
const LONG = [
  'test/client/browser.test.ts',
  'test/client/endless.test.ts',
  'test/e2e/real-tree.test.ts',
  'test/explorer/{app-in-host,chromium,island,island-*}.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/gateway/faults/dying.test.ts',
  'test/gateway/many.test.ts',
  'test/gateway/storm.test.ts',
  'test/interop/**/*.test.ts',
  'test/providers/sql/**/*.test.ts',
  'test/search/**/*.test.ts',
  'test/replicas/{killed,redis}.test.ts',
  'test/security/access/model/**/*.test.ts',
  'test/security/access-matrix.test.ts',
  'test/security/hostile-answers.test.ts',
  'test/security/paths.test.ts',
  'test/security/swaps.test.ts',
  'test/services/**/*.test.ts',
  'test/soak/**/*.test.ts',
];

/** What only a process of its own shows: signals, standard streams, memory, exit statuses. */
const PROCESS = [
  'test/cli/**/*.test.ts',
  'test/e2e/{cancellation,metadata,pipes,shutdown,stdio}.test.ts',
  'test/package.test.ts',
  'test/security/{audit,audit-lock,limits}.test.ts',
];

/** What counts the timers that are left: of a file before it in the same process, one may be set at any time. */
const COUNTS_TIMERS = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `src/${path}`)
  .filter((path) => readFileSync(path, 'utf8').includes('getTimerCount'));

/** What puts something else in the place of a module, or counts what the whole process does. */
const APART = [
  ...COUNTS_TIMERS,
  'test/errors/tap.test.ts',
  'test/security/hidden-together.test.ts',
  'test/security/incidents/programs.test.ts',
];

/** Each of them grows to a gigabyte. */
const MAX_WORKERS = 6;

export default defineConfig({
  // Plug-ins import `vitrine/plug-in` as packages of others do: here that is its source.
  resolve: { tsconfigPaths: true },
  test: {
    globalSetup: ['test/runner/packages.ts'],
    // A file that never loads ends; every error that leaves a server while a test runs is looked at.
    setupFiles: ['test/runner/loading.ts', 'test/errors/setup.ts'],
    reporters: ['default', new SlowestFiles()],
    // What is broken everywhere is known by then; each test that waits in vain takes two minutes.
    bail: 25,
    // A sixth of a test is waiting for processes and timers: one file more than there are cores keeps them busy.
    maxWorkers: Math.min(availableParallelism() + 1, MAX_WORKERS),
    // Only what hangs takes so long: a busy machine has its time. `test/e2e/waiting.ts` gives up before, and says on what.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    teardownTimeout: 30_000,
    coverage: {
      include: ['src/**', 'plug-ins/**'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['{src,plug-ins}/**/*.test.ts'], exclude: COUNTS_TIMERS, isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'wire',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...PROCESS, ...LONG, ...APART],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'apart', include: APART },
      },
      {
        extends: true,
        test: { name: 'process', include: PROCESS, isolate: false },
      },
      {
        extends: true,
        test: { name: 'long', include: LONG },
      },
    ],
  },
});
