/** In front of every test file: vitest bounds tests and hooks, but not how long a file takes to load. This does. */
import { beforeAll, expect } from 'vitest';

/** Only what hangs takes so long, on however busy a machine. */
const LOADING_MS = 300_000;

/** Files share a process: one in which nothing runs leaves its timer to the next one. */
const shared = globalThis as { loadingTimer?: NodeJS.Timeout };

const file = expect.getState().testPath;
clearTimeout(shared.loadingTimer);
shared.loadingTimer = setTimeout(() => {
  process.stderr.write(`${file} has not loaded in ${LOADING_MS} ms: its process ends\n`, () => process.exit(1));
}, LOADING_MS);

beforeAll(() => clearTimeout(shared.loadingTimer));
