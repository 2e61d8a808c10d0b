/**
 * A headless Chromium for a test file: a profile of its own that is thrown away, and nothing but this
 * machine to talk to.
 */
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
      // Its sandbox takes more rights than containers have; it shows nothing but pages of tests.
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
  });
}
