/**
 * The explorer in Chromium, over hostile documents: none of their scripts runs, nothing is loaded from elsewhere, and no page navigates
 * away.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressOf, type Route } from '../../src/frontends/explorer/address.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { DOCUMENTS, type HostileServer, startHostile, watchedContext } from './hostile-server.ts';

/** The number of pages that open documents at the same time. */
const PAGES = 4;

describeWith([chromium])('hostile documents', () => {
  let server: HostileServer;
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  /** The forbidden events that happened. */
  const happened: string[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startHostile(), startChromium()]);
    origin = server.origin;
    context = await watchedContext(browser, origin, happened);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Opens each address in one of several pages, and calls `seen` unless the address is a download. */
  async function look(
    addresses: readonly string[],
    seen: (page: Page, address: string) => Promise<void>,
  ): Promise<void> {
    const left = [...addresses];
    const lookOn = async (): Promise<void> => {
      const page = await context.newPage();
      for (let address = left.shift(); address !== undefined; address = left.shift()) {
        const opened = await page.goto(origin + address).catch((error: unknown) => {
          if (!/ERR_ABORTED|Download is starting/.test(String(error))) throw error;
        });
        if (opened?.url() !== undefined && page.url() !== opened.url())
          happened.push(`${address} went to ${page.url()}`);
        if (opened) await seen(page, address);
      }
      await page.close();
    };
    await Promise.all(Array.from({ length: PAGES }, lookOn));
    expect(happened.slice(0, 10)).toEqual([]);
  }

  const addressesOf = (route: Route): readonly string[] => DOCUMENTS.map(({ uri }) => addressOf(route, uri));

  it('are noticed by this test if they run a script or load something', async () => {
    const page = await context.newPage();
    await page.setContent(`<script>steal()</script><img src="http://127.0.0.1:1/away">`);
    await page.close();
    expect([...happened].sort()).toEqual(['a script ran: ', 'loaded http://127.0.0.1:1/away']);
    happened.length = 0;
  });

  it('are many, each with its own URI', () => {
    expect(DOCUMENTS.length).toBeGreaterThan(150);
    expect(new Set(DOCUMENTS.map(({ uri }) => uri)).size).toBe(DOCUMENTS.length);
  });

  it('are listed, found and shown as text, with links to this server only', { timeout: 600_000 }, async () => {
    const lists: string[] = [];
    for (let next: string | undefined = '/'; next !== undefined; ) {
      lists.push(next);
      const text = await (await fetch(origin + next)).text();
      next = /<a rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(lists.length).toBeGreaterThan(3);
    let shown = 0;
    await look([...lists, '/search?q=steal', ...addressesOf('view')], async (page, address) => {
      const links = await page.evaluate(() =>
        ['href', 'src', 'action', 'formaction', 'data', 'srcset', 'poster', 'xlink:href'].flatMap((name) =>
          [...document.querySelectorAll(`[${CSS.escape(name)}]`)].map((each) => each.getAttribute(name) ?? ''),
        ),
      );
      const foreign = links.filter(
        (link) => !/^(?:\/(?![/\\])|#|data:,$|data:image\/(?:png|svg\+xml|gif|webp|jpeg)[;,])/.test(link),
      );
      if (foreign.length > 0) happened.push(`${address} links to ${foreign[0]?.slice(0, 200)}`);
      const odd = await page.evaluate(
        () =>
          document.querySelectorAll('script:not([src]),iframe:not([sandbox]),object,embed,base,meta[http-equiv]')
            .length,
      );
      if (odd > 0) happened.push(`${address} has markup of a document`);
      shown += 1;
    });
    expect(shown).toBe(lists.length + 1 + DOCUMENTS.length);
  });

  it('run nothing when their bytes are opened, and reach nothing of this server', async () => {
    await look(
      addressesOf('raw').filter((address) => /\/hostile\/(?:content|markup|svg)\//.test(address)),
      async (page, address) => {
        const reached = await page.evaluate(() => self.origin).catch(() => 'null');
        if (reached !== 'null') happened.push(`${address} is of ${reached}`);
      },
    );
  });
});
