/** The explorer in Chromium, by keyboard alone: everything that a person does in it. */
import { writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Listening, ROOT, startHttp } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';

/** Milliseconds until a part of the page has to be there, on however busy a machine. */
const PATIENCE = 30_000;

let folder: Folder;
let server: Listening;
let browser: Browser;
let page: Page;
let origin: string;
/** Errors of the page, and requests that it sent elsewhere. */
const wrong: string[] = [];

async function newPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const made = await context.newPage();
  made.setDefaultTimeout(Number(process.env.QUICK ?? PATIENCE));
  made.on('pageerror', (error) => wrong.push(String(error)));
  made.on(
    'console',
    (message) => message.type() === 'error' && !/404 \(Not Found\)/.test(message.text()) && wrong.push(message.text()),
  );
  made.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'blob:' && url.protocol !== 'data:' && url.hostname !== '127.0.0.1') wrong.push(request.url());
  });
  return made;
}

/** The thing that is shown. */
const thing = (): ReturnType<Page['locator']> => page.locator('#thing');
const title = (text: string): Promise<void> => thing().locator('h1', { hasText: text }).waitFor();
const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
const press = async (...keys: readonly string[]): Promise<void> => {
  for (const key of keys) await page.keyboard.press(key);
};
/** Opens an address, and waits until the page has been taken over. */
async function visit(path: string): Promise<void> {
  await page.goto(origin + path);
  await page.locator('.island').waitFor();
}
/** Moves with Tab until this has the focus. */
async function tabTo(selector: string): Promise<void> {
  for (let times = 0; times < 80; times++) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)) return;
    await press('Tab');
  }
  throw new Error(`Tab does not lead to ${selector}`);
}

describeWith([chromium])('the island', () => {
  beforeAll(async () => {
    folder = await temporaryFolder({
      'docs/clocks/index.md':
        '# Clocks\n\nThe *escapement* of a [carriage clock](winding.toml).\n\n<b onclick=x>raw</b>\n',
      'docs/clocks/winding.toml': 'keeper = "Joss Pell"\n',
      'docs/clocks/zeta.csv': 'name,age\n"Sixfold, the",211\nCuckoo,98\n',
      'docs/empty/': '',
      'docs/notes.json': '{"wound": true, "days": [1, 2, 8]}',
      'docs/sealed.txt': 'the combination is 1890',
    });
    const config = await writeConfig(folder, {
      server: { name: 'clocks', title: 'A museum of clocks' },
      mounts: {
        docs: './docs',
        registrar: `${ROOT}examples/registrar.sqlite`,
        restoration: `${ROOT}examples/restoration.git`,
      },
      confirm: ['docs+file:///sealed.txt'],
    });
    [server, browser] = await Promise.all([startHttp([config]), startChromium()]);
    origin = new URL(server.url).origin;
    page = await newPage();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('finds a file by search, reads it, and sees it change', async () => {
    await visit('/');
    await press('Control+k');
    await page.keyboard.type('escapement');
    await page.locator('.found mark').first().waitFor();
    await press('Enter');
    expect(await focused()).toBe('index.md');
    await press('Enter');
    await title('index.md');
    expect(page.url()).toMatch(/\/view\/docs\+file\/clocks\/index\.md\?lines=\d+-\d+$/);
    await press('Backspace');
    await page.waitForURL('**/view/docs+file/clocks');
    await page.locator('.sheet a:focus').waitFor();
    await page.keyboard.type('ind');
    await press('Enter');
    await thing().locator('.prose em').waitFor();
    expect(await thing().locator('.prose').innerText()).toContain('<b onclick=x>');
    expect(await page.locator('.prose b').count()).toBe(0);
    await thing().locator('[data-live]').waitFor();
    await writeFile(folder.at('docs/clocks/index.md'), '# Clocks\n\nNow they *strike*.\n');
    await thing().locator('em', { hasText: 'strike' }).waitFor();
    await thing().locator('.glow').waitFor();
  });

  it('lights up a row that changed, until it is looked at', async () => {
    await visit('/view/docs+file/clocks/index.md');
    const row = page.locator('.row', { hasText: 'zeta.csv' });
    await row.locator('[data-live]').waitFor();
    await writeFile(folder.at('docs/clocks/zeta.csv'), 'name,age\n"Sixfold, the",211\nCuckoo,99\n');
    await row.locator('.dot').waitFor();
    await tabTo('.sheet a');
    await page.keyboard.type('zet');
    await press('Space');
    await title('zeta.csv');
    await page.locator('.data td', { hasText: 'Sixfold, the' }).waitFor();
    await row.locator('.dot').waitFor({ state: 'detached' });
    expect(await focused()).toContain('zeta.csv');
  });

  it('walks with keys, filters, and comes back to the same view', async () => {
    await visit('/view/docs+file/');
    await page.locator('.row', { hasText: 'clocks' }).waitFor();
    await press('/');
    await page.keyboard.type('note');
    await page.locator('.row', { hasText: 'clocks' }).waitFor({ state: 'detached' });
    await press('ArrowDown', 'Enter');
    await title('notes.json');
    await page.locator('.tree .key', { hasText: 'days' }).waitFor();
    await page.reload();
    await page.locator('.tree .key', { hasText: 'days' }).waitFor();
    expect(await page.locator('#filter').inputValue()).toBe('note');
    await page.goBack();
    await page.locator('.tree').waitFor({ state: 'detached' });
    await press('?');
    await page.locator('dialog kbd').first().waitFor();
    await press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    await visit('/view/docs+file/empty');
    await page.getByText('There is nothing in here.').waitFor();
    await visit('/view/docs+file/gone.txt');
    await thing().getByRole('alert').getByText('Not here').waitFor();
  });

  it('calls a tool, and draws its result', async () => {
    await visit('/?tool=describe');
    await tabTo('.field input');
    await page.keyboard.type('docs+file:///notes.json');
    await press('Enter');
    await page.locator('.offer .case').getByText('application/json').first().waitFor();
  });

  it('fills a template with completion, and reads a row', async () => {
    await visit(`/?template=${encodeURIComponent('registrar+sqlite:///objects/{accession}')}`);
    await tabTo('.field input');
    await page.keyboard.type('VM.1931.00');
    await page.locator('datalist option[value="VM.1931.001"]').waitFor({ state: 'attached' });
    await page.keyboard.type('1');
    await press('Enter');
    await page.waitForURL('**/view/registrar+sqlite/objects/VM.1931.001');
    await page.locator('.tree .key', { hasText: 'accession' }).first().waitFor();
  });

  it('compares two revisions', async () => {
    await visit(`/?template=${encodeURIComponent('restoration+git:///compare/branches/{base}/branches/{branch}')}`);
    await tabTo('.field input');
    await page.keyboard.type('main');
    await press('Tab');
    await page.keyboard.type('try~2Fshorter-spring');
    await press('Enter');
    await page.locator('.hljs-addition, .hljs-deletion').first().waitFor();
  });

  it('asks a person what the server asks', async () => {
    await visit('/view/docs+file/sealed.txt');
    const dialog = page.locator('dialog', { hasText: 'May this be read?' });
    await dialog.waitFor();
    await tabTo('dialog input');
    await press('Space');
    await tabTo('dialog button[type=submit]');
    await press('Enter');
    await thing().getByText('the combination is 1890').waitFor();
  });

  it('shows each request and its answer', async () => {
    await visit('/view/docs+file/notes.json');
    await tabTo('.wire button');
    await press('Enter');
    await tabTo('.exchanges li button');
    await press('Enter');
    await page.locator('.pair pre', { hasText: '"jsonrpc"' }).first().waitFor();
  });

  it('keeps what was typed before it took over', async () => {
    const early = await newPage();
    let go = (): void => {};
    const typed = new Promise<void>((resolve) => {
      go = resolve;
    });
    await early.route('**/island.js', async (route) => {
      await typed;
      await route.continue();
    });
    await early.goto(origin, { waitUntil: 'commit' });
    await early.locator('input[name=q]').fill('brass');
    go();
    await early.locator('.island').waitFor();
    expect(await early.locator('#search').inputValue()).toBe('brass');
    await early.context().close();
  });

  it('fits on a narrow screen', async () => {
    const narrow = await newPage({ viewport: { width: 320, height: 640 } });
    await narrow.goto(`${origin}/view/docs+file/clocks/index.md`);
    await narrow.locator('.island .prose').waitFor();
    expect(await narrow.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await narrow.context().close();
  });

  /** Its findings in a view, with a contrast of at least 7:1. @param rules all, where none are named */
  async function lookAt(looked: Page, path: string, rules?: readonly string[]): Promise<readonly string[]> {
    const { default: axe } = await import('axe-core');
    await looked.goto(origin + path);
    await looked.locator('.island h1').first().waitFor();
    await looked.evaluate(axe.source);
    return await looked.evaluate(async (only) => {
      const { axe } = globalThis as unknown as { readonly axe: typeof import('axe-core') };
      const { violations } = await axe.run({
        rules: { 'color-contrast-enhanced': { enabled: true } },
        ...(only !== undefined && { runOnly: [...only] }),
      });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    }, rules);
  }

  it('has nothing that axe finds, in light and dark', async () => {
    const light = await newPage({ colorScheme: 'light', bypassCSP: true });
    for (const path of ['/', '/view/docs+file/clocks/zeta.csv', '/search?q=clock', '/?tool=search'])
      expect(await lookAt(light, path), path).toEqual([]);
    await light.context().close();
    const dark = await newPage({ colorScheme: 'dark', bypassCSP: true });
    for (const path of ['/view/docs+file/clocks/winding.toml', '/?tool=search'])
      expect(await lookAt(dark, path, ['color-contrast-enhanced']), path).toEqual([]);
    await dark.context().close();
  });

  it('sends nothing elsewhere, and has no errors', () => {
    expect(wrong).toEqual([]);
  });
});
