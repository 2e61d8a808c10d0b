/**
 * The explorer as an app in Chromium, in a host on the bridge of the official package: it lists, reads and picks, and informs the model.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Connected, connectHttp, type Listening, MUSEUM, startHttp } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { hostScript } from './host-script.ts';

describeWith([chromium])('the explorer in a host', () => {
  let server: Listening;
  let client: Connected;
  let browser: Browser;
  let page: Page;
  const loaded: string[] = [];
  const contexts: unknown[] = [];
  const methods: string[] = [];

  beforeAll(async () => {
    server = await startHttp([MUSEUM]);
    client = await connectHttp('modern', server);
    browser = await startChromium();
    page = await browser.newPage();
    await page.route('**', async (route) => {
      loaded.push(route.request().url());
      await route.abort();
    });
    await page.exposeFunction('request', (method: string, params: Record<string, unknown>) => {
      methods.push(method);
      return client.request(method, params);
    });
    await page.exposeFunction('context', (params: unknown) => void contexts.push(params));
    await page.setContent('<!doctype html><title>Host</title>');
    await page.addScriptTag({ content: await hostScript() });
  });

  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Shows the app in a new frame, at a folder. */
  async function show(reads: boolean): Promise<void> {
    const { contents } = await client.request<{ contents: readonly { text: string }[] }>('resources/read', {
      uri: 'ui://vitrine/explorer',
    });
    methods.length = 0;
    await page.evaluate(
      ([html = '', does]) =>
        (window as unknown as { show(...args: unknown[]): Promise<void> }).show(
          html,
          { name: 'browse' },
          { uri: 'file:///guide' },
          does === 'reads',
        ),
      [contents[0]?.text, reads ? 'reads' : ''],
    );
  }

  it('shows a folder, a text and an image, and informs the model of a pick', async () => {
    await show(true);
    const app = page.frameLocator('iframe');
    await app.getByRole('button', { name: 'icon.png' }).click();
    await app.getByRole('img', { name: 'icon.png' }).waitFor();
    await app.getByRole('button', { name: 'Back' }).click();
    await app.getByRole('button', { name: 'welcome.md' }).click();
    await app.locator('pre').filter({ hasText: '#' }).waitFor();
    expect(contexts).toEqual([]);
    await app.getByRole('button', { name: 'Use this' }).click();
    await app.getByText('Picked welcome.md').waitFor();
    expect(contexts).toMatchObject([
      {
        content: [
          { type: 'text', text: expect.stringContaining('file:///guide/welcome.md') },
          { type: 'resource_link', name: 'welcome.md' },
        ],
        structuredContent: { picked: { uri: 'file:///guide/welcome.md' } },
      },
    ]);
    expect(loaded.filter((url) => !url.startsWith('data:'))).toEqual([]);
  });

  it('reads by its tools if the host does not read', async () => {
    await show(false);
    const app = page.frameLocator('iframe');
    await app.getByRole('button', { name: 'welcome.md' }).click();
    await app.locator('pre').filter({ hasText: '#' }).waitFor();
    await app.getByRole('button', { name: 'Back' }).click();
    await app.getByRole('button', { name: 'icon.png' }).click();
    await app.getByRole('img', { name: 'icon.png' }).waitFor();
    expect(new Set(methods)).toEqual(new Set(['tools/call']));
  });

  it('searches by words, and a pick has exactly the found lines', async () => {
    await show(true);
    contexts.length = 0;
    const app = page.frameLocator('iframe');
    await app.getByRole('searchbox').fill('carriage');
    await app.getByRole('searchbox').press('Enter');
    await app
      .locator('li pre')
      .filter({ hasText: /carriage/i })
      .first()
      .waitFor();
    await app.locator('li button').first().click();
    await app
      .locator('main > pre')
      .filter({ hasText: /carriage/i })
      .waitFor();
    await app.getByRole('button', { name: 'Use this' }).click();
    await app.getByText('Picked').waitFor();
    expect(contexts).toMatchObject([
      { structuredContent: { picked: { uri: expect.stringMatching(/^file:\/\/\/.+[?#]/) } } },
    ]);
    await app.getByRole('button', { name: 'Back' }).click();
    await app.locator('li pre').first().waitFor();
    await app.getByRole('searchbox').fill('no such words in a museum');
    await app.getByRole('searchbox').press('Enter');
    await app.getByText('Nothing was found.').waitFor();
    await app.getByRole('button', { name: 'Load again' }).click();
    await app.getByText('Nothing was found.').waitFor();
  });
});
