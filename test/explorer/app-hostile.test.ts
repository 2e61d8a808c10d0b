/** The explorer as an app in Chromium, over hostile documents: nothing in them runs, loads, or leaves its frame. */
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Connected, connectHttp } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { hostScript } from './host-script.ts';
import { DOCUMENTS, type HostileServer, startHostile, watchedContext } from './hostile-server.ts';

/** The first element of the app, which is there before anything is drawn. */
const SEARCH = '<search><input type="search" aria-label="Search everything" placeholder="Search everything"></search>';

/** The most milliseconds until a document is drawn, however busy the machine is. */
const PATIENCE = 30_000;

interface Host {
  show(html: string, tool: { readonly name: string }, args: Record<string, unknown>): Promise<void>;
  reopen(uri: string): Promise<void>;
}

describeWith([chromium])('hostile documents in the app', () => {
  let server: HostileServer;
  let client: Connected;
  let browser: Browser;
  let page: Page;
  let app: Frame;
  /** The forbidden events that happened. */
  const happened: string[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startHostile(), startChromium()]);
    client = await connectHttp('modern', { url: server.endpoint.url, output: () => '' });
    const context = await watchedContext(browser, server.origin, happened);
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (error) => happened.push(`threw ${error}`));
    page.on('console', (message) => message.type() === 'error' && happened.push(`said ${message.text()}`));
    await page.exposeFunction('request', (method: string, params: Record<string, unknown>) =>
      client.request(method, params),
    );
    await page.exposeFunction('context', () => {});
    await page.setContent('<!doctype html><title>Host</title>');
    await page.addScriptTag({ content: await hostScript() });
    const { contents } = await client.request<{ contents: readonly { text: string }[] }>('resources/read', {
      uri: 'ui://vitrine/explorer',
    });
    await page.evaluate(
      ([html = '']) => (window as unknown as Host).show(html, { name: 'browse' }, {}),
      [contents[0]?.text],
    );
    await page.frameLocator('iframe').locator('li button').first().waitFor();
    const [, frame] = page.frames();
    if (frame === undefined) throw new Error('the host shows no app');
    app = frame;
    page.on('framenavigated', (each) => happened.push(`went to ${each.url()}`));
    page.on('frameattached', () => happened.push('made a frame'));
  });

  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Elements and attributes in the app that only a document can have made. */
  const foreign = (): Promise<readonly string[]> =>
    app.evaluate((search) => {
      const own = document.body.firstElementChild;
      const isSearch = (each: Element): boolean => own?.outerHTML === search && own.contains(each);
      return [...document.body.querySelectorAll('*')].flatMap((each) => {
        if (isSearch(each)) return [];
        const isOurs = /^(?:MAIN|NAV|UL|LI|BUTTON|SMALL|STRONG|P|PRE|IMG)$/.test(each.nodeName);
        const isScript = each === document.body.lastElementChild && each.nodeName === 'SCRIPT';
        const odd = [...each.attributes].filter(
          ({ name, value }) =>
            !/^(?:title|class|dir|role|alt|data-seen)$/.test(name) &&
            !(name === 'src' && /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/.test(value)),
        );
        return [
          ...(isOurs || isScript ? [] : [`element ${each.nodeName}`]),
          ...odd.map(({ name, value }) => `attribute ${name}=${value.slice(0, 200)}`),
        ];
      });
    }, SEARCH);

  it('are rows of a list', async () => {
    const more = page.frameLocator('iframe').getByRole('button', { name: 'More', exact: true });
    while ((await app.locator('li').count()) < DOCUMENTS.length) {
      const before = await app.locator('li').count();
      await more.click();
      await app.waitForFunction((rows) => document.querySelectorAll('li').length > rows, before);
    }
    expect(await foreign()).toEqual([]);
    expect(happened.slice(0, 10)).toEqual([]);
  });

  it('run nothing, load nothing and lead nowhere', { timeout: 600_000 }, async () => {
    const globals = await app.evaluate(() => Object.getOwnPropertyNames(window).length);
    let drawn = 0;
    for (const { uri } of DOCUMENTS) {
      await app.evaluate(() => {
        for (const each of document.querySelectorAll('main > *')) each.setAttribute('data-seen', '');
      });
      await page.evaluate((next) => (window as unknown as Host).reopen(next), uri);
      await app
        .waitForFunction(
          () =>
            document.querySelector('main > nav:not([data-seen])') !== null &&
            document.querySelector('[role=status]')?.textContent === '',
        )
        .then(
          () => (drawn += 1),
          (error: unknown) => happened.push(`${uri} is not drawn: ${error}`),
        );
      for (const each of await foreign()) happened.push(`${uri} has ${each}`);
    }
    expect(happened.slice(0, 10)).toEqual([]);
    expect(drawn).toBe(DOCUMENTS.length);
    expect(await app.evaluate(() => 'polluted' in {})).toBe(false);
    expect(await app.evaluate(() => Object.getOwnPropertyNames(window).length)).toBe(globals);
  });
});
