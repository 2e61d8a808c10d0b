/** Everything that a person does in the explorer, in Chromium and by keyboard alone. */
import { writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { type Listening, startHttp } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { openPage } from './opening.ts';
import { Person } from './person.ts';
import { CONFIG, callsATool, comparesRevisions, FILES, findsReadsAndSeesChange, readsARow } from './walk.ts';

let folder: Folder;
let server: Listening;
let browser: Browser;
let page: Page;
let person: Person;
let origin: string;
/** An image of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Errors of the page, and its requests to other machines. */
const wrong: string[] = [];

const newPage = (options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> =>
  openPage(browser, wrong, options);

/** The shown resource. */
const thing = (): ReturnType<Page['locator']> => page.locator('#thing');
const title = (text: string): Promise<void> => thing().locator('h1', { hasText: text }).waitFor();
const press = (...keys: readonly string[]): Promise<void> => person.presses(...keys);
const visit = (path: string): Promise<void> => person.visits(path);
const tabTo = (selector: string): Promise<void> => person.tabsTo(selector);

describeWith([chromium])('the island', () => {
  beforeAll(async () => {
    folder = await temporaryFolder({
      ...FILES,
      'docs/pictures/inner/deep.txt': 'deep',
      'docs/pictures/not.png': 'no picture at all',
      'docs/pictures/two.png': PIXEL,
    });
    const config = await writeConfig(folder, { ...CONFIG, confirm: ['docs+file:///sealed.txt'] });
    [server, browser] = await Promise.all([startHttp([config]), startChromium()]);
    origin = new URL(server.url).origin;
    page = await newPage();
    person = new Person(page, origin);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('finds a file by search, reads it, and shows its change', () => findsReadsAndSeesChange(person, folder));

  it('marks a changed row until the person looks at it', async () => {
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
    expect(await person.focused()).toContain('zeta.csv');
  });

  it('navigates by keys, filters, and comes back to the same view', async () => {
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

  it('shows a folder as a grid, with thumbnails of images', async () => {
    await visit('/view/docs+file/pictures');
    await tabTo('a[aria-label="As a grid"]');
    await press('Enter');
    await person.isAt(/\?layout=grid$/);
    await page.locator('.tile', { hasText: 'two.png' }).locator('img[src^="blob:"]').waitFor();
    // An entry that claims to be an image, but is not, keeps its icon.
    expect(await page.locator('.tile', { hasText: 'not.png' }).locator('img').count()).toBe(0);
    await tabTo('.tile a');
    expect(await person.focused()).toBe('inner');
    await press('ArrowRight');
    expect(await person.focused()).toBe('not.png');
    await page.keyboard.type('tw');
    expect(await person.focused()).toBe('two.png');
    await press('ArrowLeft', 'ArrowRight', 'Enter');
    await title('two.png');
    await press('Backspace');
    await person.isAt(/\/view\/docs\+file\/pictures\?layout=grid$/);
    await person.sees('.tile a:focus');
    await press('Home', 'Enter');
    await person.isAt(/\/pictures\/inner\?layout=grid$/);
    await writeFile(folder.at('docs/pictures/inner/new.txt'), 'new');
    await person.sees('.tile', 'new.txt');
  });

  it('calls a tool, and shows its result', () => callsATool(person));

  it('fills a template with completion, and reads a row', () => readsARow(person));

  it('compares two revisions', () => comparesRevisions(person));

  it('leads from the history of a file to the change of a commit', async () => {
    const address = '/view/restoration+git/HEAD/VM.1931.001/treatment.md';
    const plain = await (await fetch(origin + address)).text();
    for (const way of ['log', 'blame'])
      expect(plain).toContain(`href="/view/restoration+git/${way}/HEAD/VM.1931.001/treatment.md"`);
    await visit(address);
    await person.sees('.tabs a', 'History');
    await tabTo('.tabs a[href*="show=history"]');
    await press('Enter');
    await person.sees('.history li');
    await tabTo('.history nav a');
    await press('Enter');
    await person.isAt(/\/view\/restoration\+git\/diff\/commits\/[0-9a-f]+\/VM\.1931\.001\/treatment\.md$/);
    await person.sees('.hljs-addition');
    await page.goBack();
    await person.sees('.history li');
    for (const part of [
      '.history nav a:nth-of-type(2)',
      '.history nav a:nth-of-type(3)',
      '[aria-label="History"] p a',
    ]) {
      await tabTo(part);
      await press('Enter');
      await person.sees('#thing .case pre, #thing .case .prose');
      await page.goBack();
      await person.sees('.history li');
    }
  });

  it("asks a person the server's questions", async () => {
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

  it('keeps text that was typed before it took over', async () => {
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

  it.each([
    ['nothing answers', 'docs+file/pictures/two.png', 'media', 'img[src^="blob:"]'],
    ['it is gone after an update', 'docs+file/pictures/two.png', 'media', 'img[src^="blob:"]'],
    ['nothing answers', 'docs+file/pictures/two.png?as=bytes', 'hex', 'pre'],
  ])(
    'says that the module of a preview cannot be loaded, and loads it again: %s, %s',
    async (why, path, module, drawn) => {
      const cut = await openPage(browser, []);
      const modules = new RegExp(`/${module}-[^/]*\\.js$`);
      await cut.route(modules, (route) => (why === 'nothing answers' ? route.abort() : route.fulfill({ status: 404 })));
      const reader = new Person(cut, origin);
      await reader.visits(`/view/${path}`);
      await reader.sees('#thing [role=alert]', 'could not be loaded');
      expect(await cut.locator('#thing', { hasText: 'Loading' }).count()).toBe(0);
      await cut.unroute(modules);
      await reader.tabsTo('[role=alert] button');
      await reader.presses('Enter');
      await reader.sees(`#thing ${drawn}`);
      expect(await cut.locator('#thing [role=alert]').count()).toBe(0);
      await cut.context().close();
    },
  );

  it('shows the plain text if the module of its preview cannot be loaded', async () => {
    const cut = await openPage(browser, []);
    await cut.route(/\/(?:table|text)-[^/]*\.js$/, (route) => route.abort());
    const reader = new Person(cut, origin);
    await reader.visits('/view/docs+file/clocks/zeta.csv');
    await reader.sees('#thing pre', 'name,age');
    expect(await cut.locator('#thing [role=alert]').count()).toBe(0);
    await cut.context().close();
  });

  it('fits on a narrow screen', async () => {
    const narrow = await newPage({ viewport: { width: 320, height: 640 } });
    await narrow.goto(`${origin}/view/docs+file/clocks/index.md`);
    await narrow.locator('.island .prose').waitFor();
    expect(await narrow.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await narrow.context().close();
  });

  /** The findings of axe in a view, with a contrast of at least 7:1. @param rules default: all */
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

  it('has no findings of axe, in light and dark', async () => {
    const light = await newPage({ colorScheme: 'light', bypassCSP: true });
    for (const path of [
      '/',
      '/view/docs+file/pictures?layout=grid',
      '/view/docs+file/clocks/zeta.csv',
      '/search?q=clock',
      '/?tool=search',
    ])
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
