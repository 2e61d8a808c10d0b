/** The explorer as an app in Chromium, in a host on the bridge of the official package: look around, read, pick, and the model is told. */
import { readdir, readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { build } from 'tsdown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { type Connected, connectHttp, type Listening, MUSEUM, ROOT, startHttp } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';

/** The script of the host, in one file. */
async function hostScript(): Promise<string> {
  await using folder = await temporaryFolder();
  await build({
    config: false,
    cwd: ROOT,
    entry: { host: 'test/explorer/host.ts' },
    outDir: folder.path,
    platform: 'browser',
    format: 'iife',
    dts: false,
    clean: false,
    logLevel: 'error',
    deps: { alwaysBundle: [/.*/], onlyBundle: false },
  });
  const [name = ''] = (await readdir(folder.path)).filter((file) => file.endsWith('.js'));
  return await readFile(folder.at(name), 'utf8');
}

describeWith([chromium])('the explorer in a host', () => {
  let server: Listening;
  let client: Connected;
  let browser: Browser;
  let page: Page;
  const loaded: string[] = [];
  const contexts: unknown[] = [];

  beforeAll(async () => {
    server = await startHttp([MUSEUM]);
    client = await connectHttp('modern', server);
    browser = await startChromium();
    page = await browser.newPage();
    await page.route('**', async (route) => {
      loaded.push(route.request().url());
      await route.abort();
    });
    await page.exposeFunction('request', (method: string, params: Record<string, unknown>) =>
      client.request(method, params),
    );
    await page.exposeFunction('context', (params: unknown) => void contexts.push(params));
    await page.setContent('<!doctype html><title>Host</title>');
    await page.addScriptTag({ content: await hostScript() });
  });

  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await server?.[Symbol.asyncDispose]();
  });

  it('shows a folder, a text and a picture, and tells the model what was picked', async () => {
    const { contents } = await client.request<{ contents: readonly { text: string }[] }>('resources/read', {
      uri: 'ui://vitrine/explorer',
    });
    await page.evaluate(
      ([html = '']) =>
        (window as unknown as { show(...args: unknown[]): Promise<void> }).show(
          html,
          { name: 'browse' },
          { uri: 'file:///guide' },
        ),
      [contents[0]?.text],
    );
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
});
