/** A headless Firefox for a test file, driven by WebDriver BiDi, with a temporary profile, and connections to this machine only. */
import puppeteer, { type Browser } from 'puppeteer-core';
import { findProgram } from './programs.ts';
import type { Service } from './service.ts';

const find = (): string | undefined => findProgram('firefox-esr') ?? findProgram('firefox');

export const firefox: Service = {
  name: 'Firefox',
  missing: () => (find() === undefined ? 'there is no firefox-esr and no firefox' : undefined),
};

/** Ended by `close()`. */
export async function startFirefox(): Promise<Browser> {
  const executablePath = find();
  if (executablePath === undefined) throw new Error(`${firefox.name}: ${firefox.missing()}`);
  return await puppeteer.launch({
    browser: 'firefox',
    executablePath,
    headless: true,
    protocolTimeout: 120_000,
    extraPrefsFirefox: {
      // At every start it contacts its makers, and waits if they do not answer.
      'network.proxy.type': 1,
      'network.proxy.http': '127.0.0.1',
      'network.proxy.http_port': 9,
      'network.proxy.ssl': '127.0.0.1',
      'network.proxy.ssl_port': 9,
      'network.proxy.no_proxies_on': '127.0.0.1,localhost',
    },
  });
}
