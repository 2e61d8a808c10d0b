/** Runs before every test file. Vitest limits the time of tests and hooks, but not the time to load a file. This does. */
import { beforeAll, expect } from 'vitest';

/** Only a file that hangs takes so long, however busy the machine is. */
const LOADING_MS = 300_000;

/** Files share a process. A file without tests leaves its timer to the next one. */
const shared = globalThis as { loadingTimer?: NodeJS.Timeout };

const file = expect.getState().testPath;
clearTimeout(shared.loadingTimer);
shared.loadingTimer = setTimeout(() => {
  process.stderr.write(`${file} has not loaded in ${LOADING_MS} ms: its process ends\n`, () => process.exit(1));
}, LOADING_MS);

beforeAll(() => clearTimeout(shared.loadingTimer));
