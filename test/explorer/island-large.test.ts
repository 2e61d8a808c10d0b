/** The explorer in Chromium with large data: a hundred thousand entries, a gibibyte, and the size of the first load. */
import { execFile } from 'node:child_process';
import { open, truncate, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ROOT } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';

const ENTRIES = 100_000;
const GIBIBYTE = 1024 ** 3;
const LAST_LINES = '\n2026-07-28 the shutters came down\n2026-07-28 all clocks wound\n';

/** A page always has fewer elements than this. */
const MAX_ELEMENTS = 500;

let folder: Folder;
let vitrine: Vitrine;
let serving: HttpServing;
let browser: Browser;
let page: Page;

describeWith([chromium])('the island', () => {
  beforeAll(async () => {
    folder = await temporaryFolder();
    await writeFile(folder.at('turnstile.log'), '');
    await truncate(folder.at('turnstile.log'), GIBIBYTE);
    const log = await open(folder.at('turnstile.log'), 'r+');
    await log.write(LAST_LINES, GIBIBYTE - LAST_LINES.length);
    await log.close();
    const resources = Object.fromEntries(
      Array.from({ length: ENTRIES }, (_, at) => [
        `many/entry-${String(at).padStart(6, '0')}.txt`,
        { text: String(at) },
      ]),
    );
    vitrine = createVitrine({
      limits: { pageSize: 1_000 },
      mounts: { memory: memoryProvider({ resources, fixed: true }), logs: await filesProvider({ path: folder.path }) },
    });
    [serving, browser] = await Promise.all([serveHttp(vitrine, { port: 0 }), startChromium()]);
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  });

  afterAll(async () => {
    await browser?.close();
    await serving?.close();
    await vitrine?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  const visit = async (path: string): Promise<void> => {
    await page.goto(new URL(path, serving.url).href);
    await page.locator('.island').waitFor();
  };
  const elements = (): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);

  it('shows a hundred thousand entries with few elements, filters and orders them', async () => {
    await visit('/view/memory+memory/many');
    await page.locator('.row', { hasText: 'entry-000000.txt' }).waitFor();
    await page.locator('.foot', { hasText: '100,000 entries' }).filter({ hasNotText: 'coming' }).waitFor();
    expect(await elements()).toBeLessThan(MAX_ELEMENTS);
    await page.locator('.sheet a').first().focus();
    await page.keyboard.press('End');
    await page.locator('.row', { hasText: 'entry-099999.txt' }).waitFor();
    expect(await elements()).toBeLessThan(MAX_ELEMENTS);
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('entry-099999.txt');
    await page.locator('.head a', { hasText: 'Name' }).click();
    await page.locator('.head a', { hasText: 'Size' }).click();
    await page.locator('[aria-sort="ascending"]', { hasText: 'Size' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('77777');
    await page.locator('.foot', { hasText: '1 of 100,000' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.locator('#thing pre', { hasText: '77777' }).waitFor();
  });

  it('opens a log of a gibibyte at its end', async () => {
    await visit('/view/logs+file/turnstile.log');
    await page.locator('#thing pre', { hasText: 'all clocks wound' }).waitFor();
    await page.locator('.windows', { hasText: '1,073,741,824' }).waitFor();
  });

  it('loads few bytes before its first page is there', async () => {
    await promisify(execFile)('node', [`${ROOT}scripts/explorer-size.mjs`]);
  });
});
