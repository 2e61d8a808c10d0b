/** A server of the hostile documents, and a browser that records everything forbidden. */
import type { Browser, BrowserContext } from 'playwright-core';
import { defineProvider } from '../../src/core/define-provider.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { hostileDocuments, SCHEMES } from './corpus.ts';

export const DOCUMENTS = hostileDocuments();

export interface HostileServer extends AsyncDisposable {
  readonly origin: string;
  readonly endpoint: HttpServing;
}

export async function startHostile(): Promise<HostileServer> {
  const byUri = new Map(DOCUMENTS.map((each) => [each.uri, each]));
  const provider = defineProvider({
    scheme: SCHEMES,
    list: (uri) => (uri === undefined ? DOCUMENTS.map(({ content: _content, ...resource }) => resource) : undefined),
    metadata(uri) {
      const { content: _content, ...resource } = byUri.get(uri) ?? { uri: '' };
      return resource.uri === '' ? undefined : resource;
    },
    read(uri) {
      const found = byUri.get(uri);
      if (found === undefined) return undefined;
      const { content, mimeType } = found;
      return typeof content === 'string' ? { text: content.toWellFormed(), mimeType } : { bytes: content, mimeType };
    },
  });
  const vitrine = createVitrine({
    server: { name: 'hostile', title: '<script>steal()</script>', description: '"><img src=x onerror=steal()>' },
    mounts: [{ name: 'hostile', prefix: 'none', provider }],
    limits: { pageSize: 50 },
  });
  const endpoint = await serveHttp(vitrine, { port: 0 });
  return {
    origin: new URL(endpoint.url).origin,
    endpoint,
    async [Symbol.asyncDispose]() {
      await endpoint.close();
      await vitrine.close();
    },
  };
}

/** A context whose pages record in `happened` scripts of documents, requests elsewhere, dialogs and windows. */
export async function watchedContext(browser: Browser, origin: string, happened: string[]): Promise<BrowserContext> {
  const context = await browser.newContext();
  await context.exposeFunction('steal', (...args: unknown[]) => happened.push(`a script ran: ${args.join()}`));
  await context.exposeFunction('alert', () => happened.push('a script ran: alert'));
  await context.route('**', async (route) => {
    const url = route.request().url();
    if (new URL(url).origin === origin) return route.continue();
    happened.push(`loaded ${url}`);
    await route.abort();
  });
  context.on('page', (page) => {
    page.on('dialog', (dialog) => {
      happened.push(`asked: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('popup', () => happened.push('opened a window'));
  });
  return context;
}
