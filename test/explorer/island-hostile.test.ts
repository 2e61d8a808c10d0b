/** The island in Chromium, over hostile documents: they are shown as text in every view. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOf, withQuery } from '../../src/frontends/explorer/address.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { DOCUMENTS, type HostileServer, startHostile, watchedContext } from './hostile-server.ts';

/** The number of pages that open documents at the same time. */
const PAGES = 3;

/** The most milliseconds until a document is drawn, however busy the machine is. */
const PATIENCE = 30_000;

/** Every document in its usual view. Those of `content`, `markup` and `svg` are also shown as text and as bytes. */
const VIEWS = DOCUMENTS.flatMap(({ uri }) =>
  (/^hostile:\/\/\/(?:content|markup|svg)\//.test(uri) ? [undefined, 'text', 'bytes'] : [undefined]).map((show) => ({
    uri,
    show,
  })),
);

/** A document for each view, with an element that is there as soon as the module of the view is loaded. */
const LOOKS: readonly (readonly [type: string, show: string | undefined, drawn: string])[] = [
  ['text/html', undefined, '.code'],
  ['text/markdown', undefined, '.prose'],
  ['text/csv', undefined, '.data'],
  ['application/manifest+json', undefined, '.tree'],
  ['image/png', undefined, '.look-image > :not(.soft)'],
  ['text/html', 'bytes', '.look-hex > :not(.soft)'],
];

describeWith([chromium])('hostile documents in the island', () => {
  let server: HostileServer;
  let browser: Browser;
  let context: BrowserContext;
  /** The forbidden events that happened. */
  const happened: string[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startHostile(), startChromium()]);
    context = await watchedContext(browser, server.origin, happened);
    context.on('page', (page) => {
      page.on('pageerror', (error) => happened.push(`threw ${error}`));
      // Chromium reports here, too, what the content security policy has prevented, so even an attempt is recorded.
      page.on('console', (message) => message.type() === 'error' && happened.push(`said ${message.text()}`));
    });
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** A page that the island has taken over. */
  async function taken(): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(server.origin);
    await page.locator('.island .sheet a').first().waitFor();
    page.on('framenavigated', (frame) => {
      if (!frame.url().startsWith(`${server.origin}/`)) happened.push(`went to ${frame.url()}`);
    });
    return page;
  }

  /** Goes to an address within the page, and waits until the document of this URI is drawn or refused. */
  async function go(page: Page, address: string, uri: string): Promise<void> {
    await page.evaluate((path) => {
      history.pushState(null, '', path);
      dispatchEvent(new PopStateEvent('popstate'));
    }, address);
    await page.waitForFunction((wanted) => {
      const thing = document.querySelector('#thing');
      if (thing?.querySelector('article') === null) return thing.querySelector('.problem') !== null;
      const isIt = [...(thing?.querySelectorAll('.label code') ?? [])].some((each) => each.textContent === wanted);
      const drawn = thing?.querySelector('.case > :not(.soft)');
      return isIt && drawn !== null && drawn !== undefined;
    }, uri);
  }

  /** Loads the modules of all views, so that each document is drawn by its own module at once. */
  async function loadLooks(page: Page): Promise<void> {
    for (const [type, show, drawn] of LOOKS) {
      const { uri } = DOCUMENTS.find(({ mimeType }) => mimeType === type) ?? { uri: type };
      await go(page, withQuery(addressOf('view', uri), { show }), uri);
      await page.locator(`#thing ${drawn}`).first().waitFor();
    }
  }

  /** Elements and links in the page that only a document can have made, except links that are marked as external. */
  const foreign = (page: Page): Promise<readonly string[]> =>
    page.evaluate(async () => {
      // Syntax colours come a moment after the text of code.
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      const odd = [
        ...document.querySelectorAll(
          'iframe,frame,object,embed,applet,base,portal,foreignObject,body script,body style,body link,meta[http-equiv]',
        ),
      ].map((each) => `element ${each.outerHTML.slice(0, 200)}`);
      const isOurs =
        /^(?:\/(?!\/)|#|https?:\/\/evil\.example|data:image\/(?:png|gif|webp|jpeg|svg\+xml)[;,]|data:,$|blob:)/;
      for (const each of document.body.querySelectorAll('*'))
        for (const { name, value } of each.attributes) {
          if (/^on/i.test(name)) odd.push(`handler ${name}=${value.slice(0, 200)}`);
          if (name === 'style' && /url\(|expression|@import/i.test(value)) odd.push(`style ${value.slice(0, 200)}`);
          const isLink = /^(?:href|src|action|formaction|data|srcset|poster|xlink:href|ping|srcdoc)$/.test(name);
          if (isLink && !(isOurs.test(value) || (name === 'href' && each.matches('a[rel~=external][target=_blank]'))))
            odd.push(`link ${name}=${value.slice(0, 200)}`);
        }
      return odd;
    });

  it('are noticed by this test if they load something or add elements', async () => {
    const page = await taken();
    const report = page.waitForEvent('console', { predicate: (message) => message.type() === 'error' });
    await page.evaluate(() => {
      const image = document.createElement('img');
      image.src = 'http://127.0.0.1:1/away';
      document.body.append(image, document.createElement('iframe'));
    });
    await report;
    expect(happened.join()).toContain('Content Security Policy');
    expect(await foreign(page)).toEqual(['element <iframe></iframe>', 'link src=http://127.0.0.1:1/away']);
    await page.close();
    happened.length = 0;
  });

  it('run nothing, load nothing and have no unmarked links to other sites, as tiles', async () => {
    const page = await taken();
    await page.goto(`${server.origin}/?layout=grid`);
    const grid = page.locator('.tiles');
    await page.waitForFunction((count) => {
      const of = document.querySelector('.tiles');
      return Number(of?.ariaRowCount) * Number(of?.ariaColCount) >= count;
    }, DOCUMENTS.length);
    const addresses = new Set<string>();
    for (let isEnd = false; !isEnd; ) {
      const links = await page
        .locator('.tile a')
        .evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href));
      for (const each of links) addresses.add(each);
      for (const each of await foreign(page)) happened.push(`a tile has ${each}`);
      isEnd = await grid.evaluate((box) => {
        box.scrollTop += box.clientHeight;
        return box.scrollTop + box.clientHeight >= box.scrollHeight;
      });
    }
    expect(addresses.size).toBe(DOCUMENTS.length);
    expect(happened.slice(0, 10)).toEqual([]);
    await page.close();
  });

  it('run nothing, load nothing and have no unmarked links to other sites, as previews, text and bytes', {
    timeout: 600_000,
  }, async () => {
    const left = [...VIEWS];
    let shown = 0;
    const lookOn = async (): Promise<void> => {
      const page = await taken();
      await loadLooks(page);
      const globals = await page.evaluate(() => Object.getOwnPropertyNames(window).length);
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const { uri, show } = next;
        const address = withQuery(addressOf('view', uri), { show });
        await go(page, address, uri).catch((error: unknown) => happened.push(`${address} is not drawn: ${error}`));
        for (const each of await foreign(page)) happened.push(`${address} has ${each}`);
        shown += 1;
      }
      expect(await page.evaluate(() => 'polluted' in {})).toBe(false);
      expect(await page.evaluate(() => Object.getOwnPropertyNames(window).length)).toBe(globals);
      await page.close();
    };
    await Promise.all(Array.from({ length: PAGES }, lookOn));
    expect(happened.slice(0, 10)).toEqual([]);
    expect(shown).toBe(VIEWS.length);
  });

  it('are rows of a list and results of a search, and nothing else', async () => {
    const page = await taken();
    const list = page.locator('.sheet');
    await list.locator('a').first().focus();
    for (const key of ['End', 'PageUp', 'Home']) {
      await page.keyboard.press(key);
      for (const each of await foreign(page)) happened.push(`after ${key}: ${each}`);
    }
    await page.goto(`${server.origin}/search?q=steal`);
    await page.locator('.found mark').first().waitFor();
    for (const each of await foreign(page)) happened.push(`found: ${each}`);
    await page.close();
    expect(happened.slice(0, 10)).toEqual([]);
  });
});
