/** Pages of Chromium that record their errors, and their requests to other machines. */
import type { Browser, Page } from 'playwright-core';

/** The most milliseconds until a part of the page is there, however busy the machine is. */
const PATIENCE = 30_000;

/** @param wrong receives the errors of the page except 404, and the addresses of its requests to other machines */
export async function openPage(
  browser: Browser,
  wrong: string[],
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on(
    'console',
    (message) => message.type() === 'error' && !/404 \(Not Found\)/.test(message.text()) && wrong.push(message.text()),
  );
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'blob:' && url.protocol !== 'data:' && url.hostname !== '127.0.0.1') wrong.push(request.url());
  });
  return page;
}
