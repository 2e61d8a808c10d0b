/** The pages of a search in Chromium: each is shown once, however often a person clicks. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { openPage } from './opening.ts';

const LINES = 120;

let vitrine: Vitrine;
let serving: HttpServing;
let browser: Browser;
const wrong: string[] = [];

describeWith([chromium])('the pages of a search', () => {
  beforeAll(async () => {
    const text = Array.from({ length: LINES }, (_, at) => `gong ${at}\n\n\n\n`).join('');
    vitrine = createVitrine({ mounts: { memory: memoryProvider({ resources: { 'gongs.txt': { text } } }) } });
    [serving, browser] = await Promise.all([serveHttp(vitrine, { port: 0 }), startChromium()]);
  });

  afterAll(async () => {
    await browser?.close();
    await serving?.close();
    await vitrine?.close();
  });

  it('are shown once each, even after two clicks at once', async () => {
    const page = await openPage(browser, wrong);
    const asked: string[] = [];
    page.on('request', (request) => {
      const [, cursor] = /"cursor":\s*"([^"]+)"/.exec(request.postData() ?? '') ?? [];
      if (cursor !== undefined && request.postData()?.includes('gong') === true) asked.push(cursor);
    });
    await page.goto(new URL('/search?q=gong', serving.url).href);
    const places = page.locator('.island ol.found > li');
    const next = page.locator('.island .results button');
    await places.first().waitFor();
    let shown = await places.count();
    expect(shown).toBeLessThan(LINES);
    while ((await next.count()) > 0) {
      const answered = page.waitForResponse(
        async (response) => response.request().postData()?.includes('cursor') === true,
      );
      await next.evaluate((button) => {
        (button as HTMLButtonElement).click();
        (button as HTMLButtonElement).click();
      });
      await (await answered).finished();
      await page.waitForFunction((before) => document.querySelectorAll('ol.found > li').length > before, shown);
      // A second answer would be shown by now.
      await page.waitForTimeout(300);
      shown = await places.count();
      expect(shown).toBeLessThanOrEqual(LINES);
    }
    const texts = await page.locator('.island ol.found pre').allTextContents();
    const gongs = texts.join('\n').match(/gong \d+/g) ?? [];
    expect(gongs).toEqual(Array.from({ length: LINES }, (_, at) => `gong ${at}`));
    // Each cursor was sent once: a server may give a page twice, or refuse to.
    expect(asked.length).toBeGreaterThan(0);
    expect(new Set(asked).size).toBe(asked.length);
    expect(wrong).toEqual([]);
    await page.context().close();
  });
});
