/** A headless Chromium for a test file, with a temporary profile, and connections to this machine only. */
import { type Browser, chromium as engine } from 'playwright-core';
import { findProgram } from './programs.ts';
import type { Service } from './service.ts';

const PROGRAM = 'chromium';

export const chromium: Service = {
  name: 'Chromium',
  missing: () => (findProgram(PROGRAM) === undefined ? `there is no ${PROGRAM}` : undefined),
};

/** Ended by `close()`. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findProgram(PROGRAM);
  if (executablePath === undefined) throw new Error(`${chromium.name}: there is no ${PROGRAM}`);
  return await engine.launch({
    executablePath,
    headless: true,
    args: [
      // Its sandbox needs more rights than containers have. It only shows pages of tests.
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
  });
}
