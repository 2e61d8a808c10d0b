/** The explorer over real HTTP: pages without JavaScript, and the bytes of each resource. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { slowness, until } from '../e2e/waiting.ts';
import { findProgram } from '../services/programs.ts';
import { HOSTILE } from './hostile.ts';

/** The only script of a page: a file of this server. */
const ISLAND = /<script type="module" src="\/explorer\/[0-9a-f]{16}\/island\.js" data-endpoint="\/mcp"><\/script>/;

const SECRET = 'AKIAIOSFODNN7EXAMPLD';
const BIG = 1024 ** 3;
/** The files of the folder `notes`. */
const NOTES = ['a b #1.md', 'äö.txt', 'page.html', 'empty.txt', 'deep/data.bin'];
const HAS_WGET = findProgram('wget') !== undefined;
const BYTES = Uint8Array.from({ length: 3_000_000 }, (_, at) => (at * 7 + (at >> 9)) % 256);

let folder: Folder;
let vitrine: Vitrine;
let serving: HttpServing;
let origin: string;

beforeAll(async () => {
  folder = await temporaryFolder({
    'notes/a b #1.md': '# A <b>clock</b>\n',
    'notes/äö.txt': 'grüße',
    'notes/page.html': '<script>steal()</script>',
    'notes/deep/data.bin': BYTES,
    'notes/empty.txt': '',
    'hidden/x.txt': 'nobody sees this',
    'locked.txt': 'closed',
    'undescribed.txt': 'nothing is said of this',
    'keys.txt': `key = ${SECRET}\n`,
  });
  await sparse(folder.at('big.bin'));
  vitrine = createVitrine({
    server: { name: 'test', title: 'A <test> & more' },
    mounts: [{ name: 'docs', provider: await filesProvider({ path: folder.path }) }],
    access: {
      rules: [
        { effect: 'hide', uris: ['docs+file:///hidden/**', 'docs+file:///hidden'] },
        { effect: 'deny', uris: ['docs+file:///locked.txt'], operations: ['read'] },
        { effect: 'deny', uris: ['docs+file:///undescribed.txt'], operations: ['metadata'] },
        { effect: 'allow', who: 'anyone' },
      ],
    },
    redact: {},
    audit: { file: folder.at('.audit.jsonl') },
  });
  serving = await serveHttp(vitrine, { port: 0 });
  origin = new URL(serving.url).origin;
});

afterAll(async () => {
  await serving?.close();
  await vitrine?.close();
  await folder?.[Symbol.asyncDispose]();
});

/** A sparse file of a gibibyte. */
async function sparse(path: string): Promise<void> {
  await writeFile(path, '');
  await truncate(path, BIG);
}

const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(origin + path, { redirect: 'manual', ...init });
const text = async (path: string): Promise<string> => (await get(path)).text();
const withHeaders = (path: string, headers: Record<string, string>): Promise<Response> => get(path, { headers });

describe('pages', () => {
  it('show the mounts, a folder, and a resource, each with a link to the next', async () => {
    const home = await text('/');
    expect(home).toContain('<title>A &lt;test&gt; &amp; more</title>');
    expect(home).toContain('href="/view/docs+file/"');
    expect(await text('/view/docs+file/')).toContain('href="/view/docs+file/notes"');
    expect(await text('/view/docs+file/notes')).toContain('href="/view/docs+file/notes/a%20b%20%231.md"');
    const resource = await text('/view/docs+file/notes/a%20b%20%231.md');
    expect(resource).toContain('# A &lt;b&gt;clock&lt;/b&gt;');
    expect(resource).toContain('docs+file:///notes/a%20b%20%231.md');
    expect(resource).toContain(`${origin}/raw/docs+file/notes/a%20b%20%231.md`);
  });

  it('have only scripts of this server, and may load nothing from elsewhere', async () => {
    const response = await get('/');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; /,
    );
    expect(response.headers.get('content-security-policy')).not.toMatch(/unsafe|\*|https?:/);
    expect(response.headers.get('content-security-policy')).toContain("trusted-types 'none'");
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    const page = await response.text();
    expect(page.replace(ISLAND, '')).not.toMatch(/<script|style=| on\w+=/);
    const style = /href="(\/explorer\/\w+\.css)"/.exec(page)?.[1] ?? '';
    const sheet = await get(style);
    expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect((await sheet.text()).length).toBeLessThan(12_000);
  });

  it('are filtered and sorted by their address, and keep that from page to page', async () => {
    const filtered = await text('/view/docs+file/notes?filter=PAGE&sort=-name');
    expect(filtered).toContain('page.html');
    expect(filtered).not.toContain('empty.txt');
    expect(filtered).toContain('name="sort" value="-name"');
    const names = [...(await text('/view/docs+file/notes?sort=-name')).matchAll(/<bdi>([^<]*)<\/bdi><\/a><\/td>/g)];
    expect(names.map((each) => each[1])).toEqual(['äö.txt', 'page.html', 'empty.txt', 'deep', 'a b #1.md']);
  });

  it.each([
    ['/view/docs+file/none.txt', 404, 'Not here'],
    ['/view/docs+file/hidden/x.txt', 404, 'Not here'],
    ['/raw/docs+file/hidden/x.txt', 404, 'Not here'],
    ['/raw/docs+file/locked.txt', 403, 'Not for you'],
    ['/view?uri=docs%2Bfile%3A%2F%2F%2F..', 400, 'Not an address'],
    ['/view/other+file/x', 404, 'Not here'],
    ['/view', 404, 'Not here'],
  ])('report an error: %s is %i', async (path, status, title) => {
    const response = await get(path);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(`<h1>${title}</h1>`);
  });

  it('say in place that the content is denied', async () => {
    const page = await text('/view/docs+file/locked.txt');
    expect(page).toContain('You may not see this here');
    expect(page).not.toContain('closed');
  });

  it('accept neither POST nor requests from pages of other sites', async () => {
    expect((await get('/', { method: 'POST', body: 'x' })).status).toBe(404);
    expect((await withHeaders('/', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await withHeaders('/raw/docs+file/notes/page.html', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  });
});

describe('raw addresses', () => {
  const DATA = '/raw/docs+file/notes/deep/data.bin';

  it('give the bytes, in as many windows as necessary', async () => {
    const response = await get(DATA);
    expect(response.headers.get('content-length')).toBe(String(BYTES.byteLength));
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES)).toBe(true);
    expect(await text('/raw/docs+file/notes/empty.txt')).toBe('');
  });

  it('have no origin and run nothing', async () => {
    const { headers } = await get('/raw/docs+file/notes/page.html');
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'; frame-ancestors 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
    const german = await get('/raw/docs+file/notes/%C3%A4%C3%B6.txt');
    expect(german.headers.get('content-disposition')).toBe(
      `inline; filename="__.txt"; filename*=UTF-8''%C3%A4%C3%B6.txt`,
    );
  });

  it.each([
    ['bytes=0-9', 206, 0, 10],
    ['bytes=1048570-1048590', 206, 1_048_570, 1_048_591],
    ['bytes=-5', 206, 2_999_995, 3_000_000],
    ['bytes=2999999-', 206, 2_999_999, 3_000_000],
    ['bytes=2999990-99999999', 206, 2_999_990, 3_000_000],
    ['bytes=0-1,4-5', 200, 0, 3_000_000],
    ['lines=0-1', 200, 0, 3_000_000],
    ['bytes=5-1', 200, 0, 3_000_000],
  ])('answer a request for %s with %i', async (range, status, from, to) => {
    const response = await withHeaders(DATA, { range });
    expect(response.status).toBe(status);
    if (status === 206) expect(response.headers.get('content-range')).toBe(`bytes ${from}-${to - 1}/3000000`);
    expect(Buffer.from(await response.arrayBuffer()).equals(BYTES.subarray(from, to))).toBe(true);
  });

  it('refuse a range past the end', async () => {
    for (const range of ['bytes=3000000-', 'bytes=-0']) {
      const response = await withHeaders(DATA, { range });
      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe('bytes */3000000');
    }
  });

  it('answer 304 if the client has the content already', async () => {
    const { headers } = await get(DATA, { method: 'HEAD' });
    const etag = headers.get('etag') ?? '';
    expect(headers.get('content-length')).toBe('3000000');
    expect((await withHeaders(DATA, { 'if-none-match': `"other", ${etag}` })).status).toBe(304);
    expect((await withHeaders(DATA, { 'if-none-match': '"other"' })).status).toBe(200);
    const since = headers.get('last-modified') ?? '';
    expect((await withHeaders(DATA, { 'if-modified-since': since })).status).toBe(304);
    expect((await withHeaders(DATA, { range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200);
  });

  it('give the end of a gibibyte without reading the rest into memory', async () => {
    const before = process.memoryUsage().rss;
    const response = await withHeaders('/raw/docs+file/big.bin', { range: `bytes=${BIG - 4}-` });
    expect(response.headers.get('content-range')).toBe(`bytes ${BIG - 4}-${BIG - 1}/${BIG}`);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(4));
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('end early if the resource changes while it is sent', async () => {
    const path = folder.at('changing.bin');
    await sparse(path);
    const reader = (await get('/raw/docs+file/changing.bin')).body?.getReader();
    await reader?.read();
    await truncate(path, BIG / 2);
    const rest = (async () => {
      while ((await reader?.read())?.done === false);
    })();
    await expect(rest).rejects.toThrow();
    expect((await get('/raw/docs+file/notes/empty.txt')).status).toBe(200);
  });

  it('have no time limit for a client that reads, and end the connection of a client that does not', async () => {
    const unreadMs = 1_200 * slowness();
    const lines: string[] = [];
    const log = { debug() {}, info() {}, error() {}, warn: (line: string) => void lines.push(line) };
    const open = await serveHttp(vitrine, { port: 0, limits: { unreadMs }, log });
    const big = new URL('/raw/docs+file/big.bin', open.url);
    const taking = (await fetch(big)).body?.getReader();
    for (const end = performance.now() + 2.5 * unreadMs; performance.now() < end; await pause(10))
      expect((await taking?.read())?.done).toBe(false);
    await taking?.cancel();
    expect(lines).toEqual([]);
    const leaving = await fetch(big);
    await until(() => lines.length > 0, 'a line of the log for the connection that is cut');
    await expect(leaving.arrayBuffer()).rejects.toThrow();
    await open.close();
  });

  it('lead from the list of a folder to every byte in it', async () => {
    const lists = [`${origin}/raw/docs+file/notes/`];
    const found = new Map<string, Uint8Array>();
    for (const list of lists) {
      const page = await (await fetch(list)).text();
      for (const [, link = ''] of page.matchAll(/href="([^"]*)"/g)) {
        const { href, pathname } = new URL(link, list);
        expect(href.startsWith(list)).toBe(true);
        if (href.endsWith('/')) lists.push(href);
        else found.set(decodeURIComponent(pathname), new Uint8Array(await (await fetch(href)).arrayBuffer()));
      }
    }
    expect([...found.keys()].sort()).toEqual(NOTES.map((name) => `/raw/docs+file/notes/${name}`).sort());
    for (const [path, bytes] of found)
      expect(Buffer.from(bytes).equals(await readFile(folder.at(path.slice('/raw/docs+file/'.length))))).toBe(true);
  });

  it.runIf(HAS_WGET)('are copied byte for byte by wget', async () => {
    await using copy = await temporaryFolder();
    await promisify(execFile)('wget', [
      ...['-q', '-r', '-np', '-nH', '--cut-dirs=2', '--restrict-file-names=nocontrol', '-P', copy.path],
      `${origin}/raw/docs+file/notes/`,
    ]);
    for (const name of NOTES)
      expect((await readFile(copy.at('notes', name))).equals(await readFile(folder.at('notes', name)))).toBe(true);
  });
});

describe('rules, redaction and the audit', () => {
  it('apply to pages and bytes as to MCP', async () => {
    for (const path of ['/view/docs+file/keys.txt', '/raw/docs+file/keys.txt']) {
      const shown = await text(path);
      expect(shown).toContain('key = ');
      expect(shown).not.toContain(SECRET);
    }
    expect(await text('/view/docs+file/')).not.toContain('hidden');
    expect(await text('/raw/docs+file/')).not.toContain('hidden');
    const readsOfKeys = async () =>
      (await readFile(folder.at('.audit.jsonl'), 'utf8'))
        .split('\n')
        .filter((line) => line.includes('"method":"read"') && line.includes('"uri":"docs+file:///keys.txt"'));
    await until(async () => (await readsOfKeys()).length === 2, 'a line of the audit for each read');
  });

  it('apply to resources whose content may be read and whose metadata may not', async () => {
    for (const path of ['/view/docs+file/undescribed.txt', '/raw/docs+file/undescribed.txt']) {
      const response = await get(path);
      expect(response.status).toBe(403);
      expect(await response.text()).toMatch(/<h1>Not for you<.*Access to this resource is denied \(metadata\)/);
    }
  });

  it('remove from errors what no client may see', async () => {
    const memory = memoryProvider({ name: 'm', resources: { 'a.txt': { text: 'a' } } });
    const hiding = createVitrine({
      mounts: [{ name: 'memory', provider: memory }],
      hide: (said) => said.replaceAll('not found', '[hidden]'),
    });
    const open = await serveHttp(hiding, { port: 0 });
    const page = await (await fetch(new URL('/view/memory+memory/none', open.url))).text();
    expect(page).toContain('[hidden]');
    await open.close();
    await hiding.close();
  });
});

describe('with auth', () => {
  it('nothing is shown without a token', async () => {
    const token = 'a-token-of-sixteen-characters';
    const memory = memoryProvider({ name: 'm', resources: { 'a.txt': { text: 'inside' } } });
    const closed = createVitrine({
      mounts: [{ name: 'memory', provider: memory }],
      access: { rules: [{ effect: 'allow', who: 'authenticated' }] },
    });
    const auth = {
      resource: 'http://127.0.0.1/mcp',
      tokens: [{ name: 'ada', hash: createHash('sha256').update(token).digest('hex') }],
    };
    const open = await serveHttp(closed, { port: 0, auth });
    for (const path of ['/', '/view/memory+memory/a.txt', '/raw/memory+memory/a.txt']) {
      const response = await fetch(new URL(path, open.url));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Bearer');
      expect(await response.text()).not.toMatch(/inside|memory/);
      const entered = await fetch(new URL(path, open.url), { headers: { authorization: `Bearer ${token}` } });
      expect(entered.status).toBe(200);
    }
    await open.close();
    await closed.close();
  });
});

describe('turned off', () => {
  it('no page exists', async () => {
    const open = await serveHttp(vitrine, { port: 0, explorer: false });
    for (const path of ['/', '/view/docs+file/', '/raw/docs+file/keys.txt'])
      expect((await fetch(new URL(path, open.url))).status).toBe(404);
    await open.close();
  });
});

describe('hostile text', () => {
  it.each(HOSTILE)('is shown as text: %j', async (hostile) => {
    const name = `${encodeURIComponent(
      hostile
        .slice(0, 60)
        .replaceAll(/[\u0000-\u001f\u007f-\u009f\\/]/g, '_')
        .toWellFormed(),
    )}`;
    const memory = memoryProvider({
      name: 'm',
      resources: {
        'x.txt': { text: hostile, title: hostile, description: hostile },
      },
    });
    const engine = createVitrine({
      server: { name: 'x', title: hostile },
      mounts: [{ name: 'memory', provider: memory }],
    });
    const open = await serveHttp(engine, { port: 0 });
    for (const path of [
      '/',
      '/view/memory+memory/',
      '/view/memory+memory/x.txt',
      `/view/memory+memory/${name}`,
      `/?filter=${name}`,
    ]) {
      const page = (await (await fetch(new URL(path, open.url))).text()).replace(ISLAND, '');
      // A template wrote every tag and attribute of the page.
      const tags = [...page.matchAll(/<([a-z!/][a-z0-9]*)/gi)].map((each) => each[1]?.toLowerCase());
      expect(
        tags.filter((tag) => /^(?:script|iframe|object|embed|svg|style|base|math|marquee|details)$/.test(tag ?? '')),
      ).toEqual([]);
      const outside = page.replace(/"[^"]*"/g, '""');
      for (const [tag] of outside.matchAll(/<[^>]*>/g)) expect(tag).not.toMatch(/\son\w+\s*=|javascript:|srcdoc|'/i);
      expect(
        [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].every((each) =>
          /^(?:\/(?!\/)|#main$|data:)/.test(each[1] ?? ''),
        ),
      ).toBe(true);
      expect(page).not.toMatch(/[\u0000-\u0008\u202a-\u202e\u2066-\u2069]/);
    }
    await open.close();
    await engine.close();
  });
});
