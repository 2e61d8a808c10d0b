/** Requests of the island in Chromium that wait, fail, or ask the person something while another one does. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { addressOf } from '../../src/frontends/explorer/address.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { until } from '../e2e/waiting.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { openPage } from './opening.ts';

/** Milliseconds after which the page would have drawn what follows from an answer. */
const DRAWN_MS = 300;

const uriOf = (name: string): string => `memory+memory:///${name}`;

describeWith([chromium])('the island', () => {
  const memory = memoryProvider({ resources: { 'note.txt': { text: 'first' }, 'sealed.txt': { text: 'sealed' } } });
  let vitrine: Vitrine;
  let serving: HttpServing;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    vitrine = createVitrine({ mounts: { memory }, confirm: [uriOf('sealed.txt')] });
    [serving, browser] = await Promise.all([serveHttp(vitrine, { port: 0 }), startChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await serving?.close();
    await vitrine?.close();
  });

  beforeEach(async () => {
    page = await openPage(browser, []);
  });

  afterEach(async () => {
    await page.context().close();
  });

  const visit = async (path: string): Promise<void> => {
    await page.goto(new URL(path, serving.url).href);
    await page.locator('.island').waitFor();
  };

  /** Gives the requests of this method to a function, which answers them. */
  const meet = (method: string, answer: (route: Route) => unknown) =>
    page.route('**/mcp', async (route) => {
      if (route.request().headers()['mcp-method'] !== method) return route.fallback();
      await answer(route);
    });

  const drawn = (): Promise<void> => page.waitForTimeout(DRAWN_MS);

  it('shows that the latest run goes on, and stops it, after it has replaced another one', async () => {
    const held: Route[] = [];
    const ended: string[] = [];
    await meet('tools/call', (route) => held.push(route));
    page.on('requestfailed', (request) => ended.push(request.headers()['mcp-method'] ?? ''));
    await visit('/?tool=list');
    const run = page.locator('.offer button[type=submit]');
    const stop = page.locator('.offer .buttons button', { hasText: 'Stop' });
    const running = page.locator('.offer .buttons [role=status]');
    const runs = async (times: number): Promise<void> => {
      await run.click();
      await until(() => held.length === times, `${times} runs`);
    };
    await runs(1);
    for (const times of [2, 3]) {
      await runs(times);
      await until(() => ended.length === times - 1, 'the end of the run before');
      await drawn();
      expect([await stop.count(), await running.count()]).toEqual([1, 1]);
    }
    await stop.click();
    await stop.waitFor({ state: 'detached' });
    expect(await running.count()).toBe(0);
    await runs(4);
    await stop.waitFor();
    await held[3]?.continue();
    await page.locator('.offer .case', { hasText: 'memory' }).waitFor();
    expect(await stop.count()).toBe(0);
    // The result of an earlier run stays until the new one has ended.
    await runs(5);
    await runs(6);
    await drawn();
    expect(await page.locator('.offer .case').count()).toBe(1);
    expect(await stop.count()).toBe(1);
  });

  it('keeps an answer that a person types when a newer read asks the same, and that read gets it', async () => {
    let questions = 0;
    page.on('response', async (response) => {
      const text = await response.text().catch(() => '');
      if (text.includes('"input_required"')) questions++;
    });
    await visit(addressOf('view', uriOf('sealed.txt')));
    const dialog = page.locator('dialog');
    const box = dialog.locator('input[type=checkbox]');
    await box.check();
    await page.locator('article[data-live]').waitFor();
    for (const times of [2, 3]) {
      memory.set('sealed.txt', { text: `opened ${times}` });
      await until(() => questions === times, `${times} questions`);
      await drawn();
      expect(await box.isChecked()).toBe(true);
      expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
    }
    await dialog.locator('button[type=submit]').click();
    await page.locator('#thing .case', { hasText: 'opened 3' }).waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it('says that a resource has changed after a change, and not after a person has tried again', async () => {
    let fails = true;
    await meet('resources/read', (route) => (fails ? route.fulfill({ status: 503 }) : route.continue()));
    memory.set('note.txt', { text: 'first' });
    await visit(addressOf('view', uriOf('note.txt')));
    const again = page.locator('#thing .problem button');
    const glow = page.locator('#thing .glow');
    const shows = (text: string): Promise<void> => page.locator('#thing .case', { hasText: text }).waitFor();
    await page.locator('article[data-live]').waitFor();
    // Fails once more.
    const failed = page.waitForResponse((response) => response.status() === 503);
    await again.click();
    await failed;
    await drawn();
    expect(await glow.count()).toBe(0);
    fails = false;
    await again.click();
    await shows('first');
    await drawn();
    expect(await glow.count()).toBe(0);
    memory.set('note.txt', { text: 'second' });
    await shows('second');
    await glow.waitFor();
    // A change whose read fails remains a change when the next read does not.
    await page.locator('.tabs a', { hasText: 'Bytes' }).click();
    await page.locator('#thing .look-hex').waitFor();
    expect(await glow.count()).toBe(0);
    fails = true;
    memory.set('note.txt', { text: 'third' });
    await again.waitFor();
    fails = false;
    await again.click();
    await again.waitFor({ state: 'detached' });
    await glow.waitFor();
  });

  it('describes a resource again when a person tries again', async () => {
    let fails = true;
    await meet('resources/metadata', (route) => (fails ? route.fulfill({ status: 503 }) : route.continue()));
    memory.set('note.txt', { text: 'first' });
    await visit(addressOf('view', uriOf('note.txt')));
    const again = page.locator('#thing .problem button');
    await again.waitFor();
    fails = false;
    await again.click();
    await page.locator('#thing .case', { hasText: 'first' }).waitFor();
    expect(await page.locator('#thing .glow').count()).toBe(0);
  });
});
