/** The client library as a browser gets it: bundled, without code of Node.js and of the server, in Chromium. */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { build } from 'tsdown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { CLI, ERAS, type Listening, ROOT, startHttp } from '../e2e/harness.ts';
import { chromium, startChromium } from '../services/chromium.ts';
import { describeWith } from '../services/service.ts';
import { HTML_VECTORS, SVG_VECTORS } from './safety/vectors.ts';

/** The folder of the tested build, with everything that the package exports. */
const BUILT = join(dirname(CLI), '..');
const EXPORTS = {
  'vitrine/client/safety': join(BUILT, 'client/safety.js'),
  'vitrine/client': join(BUILT, 'client.js'),
};

/** The files of a bundle for browsers, with all dependencies. */
async function bundle(entry: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, string>> {
  await using folder = await temporaryFolder();
  await build({
    config: false,
    cwd: ROOT,
    entry: { ...entry },
    outDir: folder.path,
    alias: EXPORTS,
    platform: 'browser',
    format: 'esm',
    dts: false,
    clean: false,
    logLevel: 'error',
    deps: { alwaysBundle: [/.*/], onlyBundle: false },
  });
  const names = (await readdir(folder.path)).filter((file) => /\.m?js$/.test(file));
  const texts = await Promise.all(names.map((file) => readFile(folder.at(file), 'utf8')));
  return new Map(names.map((file, at) => [file, texts[at] ?? '']));
}

/** Gives the modules that the bundle does not contain. */
const needs = (files: ReadonlyMap<string, string>): readonly string[] =>
  [...files.values()].flatMap((text) => [
    ...[...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(\s*["']([^"']+)["']/gm)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((target) => !target.startsWith('./')),
    ...(text.match(/\brequire\(["'][^"']+|["']node:[^"']+/g) ?? []),
  ]);

describe('a bundle for browsers', () => {
  it('needs no other module, and contains no server', async () => {
    const files = await bundle({ client: 'src/client/index.ts', safety: 'src/client/safety/index.ts' });
    expect(needs(files)).toEqual([]);
    const text = [...files.values()].join('\n');
    const parts = [...text.matchAll(/^\/\/#region (\S+)/gm)].map((match) => match[1] ?? '');
    // The bundler leaves out the mark of a file whose first statement it inlines, such as a constant.
    expect(text).toContain('function createResourceClient(');
    expect(parts).toEqual(expect.arrayContaining(['src/client/connection.ts', 'src/client/safety/sanitizer.ts']));
    const own = parts.filter(
      (part) => part.startsWith('src/') && !/^src\/(client|connection|protocol|core)\//.test(part),
    );
    const others = parts.filter((part) => /modelcontextprotocol\/server|\bajv\b|src\/client\/node/i.test(part));
    expect([...own, ...others]).toEqual([]);
  });
});

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PAGE = '<h1>Tides</h1><script>steal()</script><img src=x onerror=steal()><p onclick=steal()>of the North Sea</p>';
const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="steal()"><script>steal()</script><circle r="4"/></svg>';

/** Serves only the page and the bundle. */
async function startPages(files: ReadonlyMap<string, string>): Promise<{ readonly port: number; close(): void }> {
  const server = createServer(({ url = '/' }, response) => {
    const script = files.get(url.slice(1));
    const [type, body] =
      url === '/'
        ? ['text/html', '<!doctype html><body><script type="module" src="/page.js"></script>']
        : ['text/javascript', script];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describeWith([chromium])('a page in Chromium', () => {
  let folder: Folder;
  let pages: Awaited<ReturnType<typeof startPages>>;
  let server: Listening;
  let browser: Browser;
  let page: Page;
  /** The URLs that the page requested from other servers. */
  const strayed: string[] = [];

  beforeAll(async () => {
    folder = await temporaryFolder({
      'dot.png': DOT,
      'guide/tides.txt': 'ebb and flöod',
      'guide/page.html': PAGE,
      'guide/drawing.svg': DRAWING,
    });
    const files = await bundle({
      page: 'test/client/browser/page.ts',
      worker: 'test/client/browser/worker.ts',
    });
    expect(needs(files)).toEqual([]);
    pages = await startPages(files);
    [server, browser] = await Promise.all([
      startHttp([folder.path, '--allow-origin', `http://127.0.0.1:${pages.port}`]),
      startChromium(),
    ]);
    page = await browser.newPage();
    page.setDefaultTimeout(25_000);
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol.startsWith('http') && hostname !== '127.0.0.1' && hostname !== 'localhost') strayed.push(hostname);
    });
    await page.exposeFunction('edit', () => folder.write('guide/tides.txt', 'slack water'));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    pages?.close();
    await folder?.[Symbol.asyncDispose]();
  });

  /** Opens the page again. */
  async function visit(host = '127.0.0.1'): Promise<void> {
    await page.goto(`http://${host}:${pages.port}/`);
    await page.waitForFunction('globalThis.look !== undefined');
  }

  /** Calls a function of the page. */
  const call = <T>(name: string, ...args: readonly unknown[]): Promise<T> =>
    page.evaluate(`${name}(...${JSON.stringify(args)})`) as Promise<T>;

  const sight = (era: string): object => ({
    era,
    listed: ['file:///guide', 'file:///dot.png'],
    walked: [
      '1 file:///',
      '2 file:///guide',
      '2 file:///dot.png',
      '3 file:///guide/drawing.svg',
      '3 file:///guide/page.html',
      '3 file:///guide/tides.txt',
    ],
    text: 'ebb and flöod',
    bytes: [...DOT],
    described: { name: 'tides.txt', size: 14, source: 'metadata' },
    missing: 'not-found',
  });

  describe.each(ERAS)('at a server of the %s era', (era) => {
    beforeAll(() => visit());

    it('lists, walks, describes and reads, in a window and in a worker', async () => {
      await folder.write('guide/tides.txt', 'ebb and flöod');
      expect(await call('look', server.url, era)).toEqual(sight(era));
      expect(await call('inWorker', server.url, era)).toEqual({
        sight: sight(era),
        sanitised: 'unsupported',
        window: 'undefined',
      });
    });

    it('gets a notification of a change [RES-4]', async () => {
      await folder.write('guide/tides.txt', 'ebb');
      expect(await call('change', server.url, era)).toEqual({
        before: 'ebb',
        event: { kind: 'updated', uri: 'file:///guide/tides.txt' },
        after: 'slack water',
      });
    });

    it('shows contents of the server without running anything in them [SEC-RES-7]', async () => {
      const uris = ['file:///guide/page.html', 'file:///guide/drawing.svg'];
      const { safe, ran, ranUnsafe } = await call<{ safe: string[]; ran: number; ranUnsafe: number }>(
        'shown',
        server.url,
        era,
        uris,
      );
      expect(safe).toEqual([
        '<h1>Tides</h1><img><p>of the North Sea</p>',
        '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"></circle></svg>',
      ]);
      expect(ran).toBe(0);
      // The check itself works: unsafe markup runs.
      expect(ranUnsafe).toBeGreaterThan(0);
    });

    it('gets no answers if the server does not allow its origin', async () => {
      await visit('localhost');
      await expect(call('look', server.url, era)).rejects.toThrow('cannot be reached');
    });
  });

  it('runs and loads nothing of sanitized markup [SEC-RES-7]', async () => {
    await visit();
    strayed.length = 0;
    const safe = await call<{ ran: number; drawings: number; loaded: number }>('showSafe', HTML_VECTORS, SVG_VECTORS);
    expect(safe.ran).toBe(0);
    expect(strayed).toEqual([]);
    // The page shows each drawing, so something of it is left.
    expect(safe.drawings).toBeGreaterThan(15);
    expect(safe.loaded).toBe(safe.drawings);
    // The check itself works: unsafe markup runs and loads.
    expect(await call('show', [...HTML_VECTORS, ...SVG_VECTORS])).toBeGreaterThan(4);
    expect(new Set(strayed)).toContain('evil.example');
  });
});
