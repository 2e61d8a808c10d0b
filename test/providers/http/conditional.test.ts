/** The provider sends conditional requests and uses their answers. The test server counts the requests. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createContext } from '../../../src/core/context.ts';
import { createNotes } from '../../../src/core/notes.ts';
import { ctx, get, serveWeb } from './looking.ts';
import { content, JSON_TYPE } from './site.ts';

const MODIFIED = 'Sun, 01 Nov 2026 10:00:00 GMT';
const url = '/data.json';
const one = (headers: Record<string, string>, options = {}) =>
  serveWeb(({ origin }) => ({ http: origin + url, head: false, ...options })).then((web) => {
    web.site.on(url, content('{"a":1}', { ...JSON_TYPE, ...headers }));
    return web;
  });

it.each([
  ['an ETag', { etag: '"v1"' }, [200, 304, 304]],
  ['a Last-Modified time', { 'last-modified': MODIFIED }, [200, 304, 304]],
  ['an ETag and a Last-Modified time', { etag: 'W/"v1"', 'last-modified': MODIFIED }, [200, 304, 304]],
  ['an ETag and no-cache', { etag: '"v1"', 'cache-control': 'no-cache' }, [200, 304, 304]],
  ['no validator', {}, [200, 200, 200]],
  ['a max-age', { 'cache-control': 'max-age=60' }, [200]],
  ['a max-age that has passed on the way', { etag: '"v1"', 'cache-control': 'max-age=60', age: '61' }, [200, 304, 304]],
  ['an Expires in the future', { expires: 'Sun, 01 Nov 2099 10:00:00 GMT' }, [200]],
  ['an ETag and an Expires that is no date', { expires: '0', etag: '"v1"' }, [200, 304, 304]],
  ['no-store', { etag: '"v1"', 'cache-control': 'no-store, max-age=60' }, [200, 200, 200]],
  ['an ETag and Vary: *', { etag: '"v1"', vary: '*' }, [200, 200, 200]],
])('sends only the needed requests for three reads of a resource with %s', async (_what, headers, statuses) => {
  await using web = await one(headers);
  for (let round = 0; round < 3; round++) {
    const { text, resource } = await get(web.provider, web.site.origin + url);
    expect(text).toBe('{"a":1}');
    expect(resource.mimeType).toBe('application/json');
  }
  expect(web.site.asked.map(({ status }) => status())).toEqual(statuses);
});

it('takes an answer as fresh for the configured time if the server names none', async () => {
  await using web = await one({}, { ttlSeconds: 60 });
  await get(web.provider, web.site.origin + url);
  await get(web.provider, web.site.origin + url);
  expect(web.site.asked).toHaveLength(1);
});

it('keeps no answers if cacheBytes is 0', async () => {
  await using web = await one({ etag: '"v1"' }, { cacheBytes: 0 });
  await get(web.provider, web.site.origin + url);
  await get(web.provider, web.site.origin + url);
  expect(web.site.asked.map(({ status }) => status())).toEqual([200, 200]);
});

it('gives the new content of a resource that has changed', async () => {
  await using web = await one({ etag: '"v1"' });
  await get(web.provider, web.site.origin + url);
  web.site.on(url, content('{"a":2}', { ...JSON_TYPE, etag: '"v2"' }));
  expect((await get(web.provider, web.site.origin + url)).text).toBe('{"a":2}');
});

it.each([
  ['max-age=60', {}, { ttlMs: 60_000, cacheScope: 'public' }],
  ['private, max-age=60', {}, { ttlMs: 60_000, cacheScope: 'private' }],
  ['max-age=60', { headers: { Authorization: 'Bearer abc' } }, { ttlMs: 60_000, cacheScope: 'private' }],
  ['no-store', {}, { ttlMs: 0, cacheScope: 'private' }],
])('says how long an answer is fresh, and for whom: %s', async (control, options, { ttlMs, cacheScope }) => {
  await using web = await one({ 'cache-control': control }, options);
  const notes = createNotes();
  await web.provider.read(web.site.origin + url, { maxBytes: 100, maxChildren: 1 }, createContext({ notes }));
  const said = notes.finish({}, { ttlMs: 1, cacheScope: 'public' });
  expect(said.cacheScope).toBe(cacheScope);
  expect(said.ttlMs).toBeLessThanOrEqual(ttlMs);
  expect(said.ttlMs).toBeGreaterThan(ttlMs - 30_000 - 1);
});

it('knows type, size and time before a read, by HEAD, and asks once for several lists [2093-2]', async () => {
  await using web = await one({ 'last-modified': MODIFIED }, { head: true });
  for (let round = 0; round < 3; round++) {
    const { resources } = await web.provider.list(undefined, { limit: 10 }, ctx);
    expect(resources).toEqual([
      {
        uri: web.site.origin + url,
        name: 'data.json',
        mimeType: 'application/json',
        size: 7,
        annotations: { lastModified: '2026-11-01T10:00:00.000Z' },
        capabilities: { list: false, subscribe: true },
      },
    ]);
  }
  expect(web.site.asked.map(({ method }) => method)).toEqual(['HEAD']);
});

it('sends one HEAD for several callers at a time, also if the server refuses HEAD, or has no such resource', async () => {
  for (const status of [405, 404]) {
    await using web = await serveWeb(
      ({ origin }) => ({ http: origin + url }),
      (_request, response) => void setTimeout(() => response.writeHead(status).end(), 50),
    );
    const asked = Array.from({ length: 5 }, () => web.provider.metadata(web.site.origin + url, ctx));
    const outcomes = await Promise.allSettled(asked);
    const expected = status === 404 ? 'rejected' : 'fulfilled';
    expect(outcomes.map((outcome) => outcome.status)).toEqual(Array(5).fill(expected));
    expect(web.site.asked).toHaveLength(1);
  }
});

it.each([400, 403, 405, 501])('works without HEAD if the server refuses it with %i', async (status) => {
  await using web = await one({}, { head: true });
  web.site.on(url, (request, response) => {
    if (request.method === 'HEAD') response.writeHead(status).end();
    else content('{"a":1}', JSON_TYPE)(request, response);
  });
  expect(await web.provider.metadata(web.site.origin + url, ctx)).toMatchObject({ name: 'data.json' });
  expect(web.site.asked.map(({ method }) => method)).toEqual(['HEAD']);
  expect((await get(web.provider, web.site.origin + url)).text).toBe('{"a":1}');
});

it.each([500, 502, 503, 504])('asks with GET for the facts if the server fails at HEAD with %i', async (status) => {
  await using web = await one({}, { head: true });
  web.site.on(url, (request, response) => {
    if (request.method === 'HEAD') response.writeHead(status).end();
    else content('{"a":1}', JSON_TYPE)(request, response);
  });
  for (let round = 0; round < 2; round++)
    expect(await web.provider.metadata(web.site.origin + url, ctx)).toMatchObject({ name: 'data.json', size: 7 });
  expect(web.site.asked.map(({ method }) => method)).toEqual(['HEAD', 'GET']);
  expect((await get(web.provider, web.site.origin + url)).text).toBe('{"a":1}');
});

it.each<[number, Record<string, string>, string, string[]]>([
  [500, {}, 'unavailable', ['HEAD', 'GET']],
  [503, {}, 'unavailable', ['HEAD', 'GET']],
  [503, { 'retry-after': '9' }, 'unavailable', ['HEAD']],
  [504, {}, 'timeout', ['HEAD', 'GET']],
  [429, {}, 'limited', ['HEAD']],
  [408, {}, 'timeout', ['HEAD']],
])('has no metadata while the server cannot tell: %i, %j', async (status, headers, code, methods) => {
  await using web = await one({}, { head: true });
  const uri = web.site.origin + url;
  web.site.on(url, (_request, response) => void response.writeHead(status, headers).end());
  for (let round = 0; round < 2; round++)
    await expect(web.provider.metadata(uri, ctx)).rejects.toMatchObject({ code, retryable: true });
  await expect(web.provider.list(uri, { limit: 1 }, ctx)).rejects.toMatchObject({ code });
  expect(web.site.asked.map(({ method }) => method)).toEqual(methods);
  const { resources } = await web.provider.list(undefined, { limit: 10 }, ctx);
  expect(resources).toMatchObject([{ uri, name: 'data.json' }]);
});

it.each([
  ['that supports ranges', true, [206]],
  ['that ignores ranges', false, [200]],
])('reads a window from a server %s', async (_what, ranges, statuses) => {
  await using web = await one({});
  const text = `${'x'.repeat(1_000)}window${'y'.repeat(100_000)}`;
  web.site.on(url, content(text, {}, ranges));
  const [body] = await web.provider.read(
    web.site.origin + url,
    { maxBytes: 10, maxChildren: 1, range: { offset: 1_000, length: 6 } },
    ctx,
  );
  expect(body?.window).toEqual({ offset: 1_000, total: text.length });
  const got = await get(web.provider, web.site.origin + url, { range: { offset: 1_000, length: 6 } });
  await body?.close?.();
  expect(got.text).toBe('window');
  expect(web.site.asked.map(({ status }) => status())).toEqual([...statuses, ...statuses]);
  expect(web.site.asked[0]?.headers).toMatchObject({ range: 'bytes=1000-1005', 'accept-encoding': 'identity' });
});

it('unpacks a packed answer, keeps it unpacked, and does not take the packed length for its size', async () => {
  await using web = await one({});
  const text = JSON.stringify({ many: 'a'.repeat(5_000) });
  web.site.on(url, content(gzipSync(text), { ...JSON_TYPE, 'content-encoding': 'gzip', etag: '"z"' }));
  expect((await get(web.provider, web.site.origin + url)).text).toBe(text);
  const again = await get(web.provider, web.site.origin + url);
  expect(again.text).toBe(text);
  const { resources } = await web.provider.list(undefined, { limit: 1 }, ctx);
  for (const { size } of [again.resource, ...resources]) expect(size).toBeUndefined();
  expect(web.site.asked.map(({ status }) => status())).toEqual([200, 304]);
});

it('asks for the accepted formats, and says which one came', async () => {
  await using web = await one({});
  web.site.on(url, (request, response) => {
    const csv = request.headers.accept?.startsWith('text/csv');
    content(csv ? 'a\n1\n' : '{"a":1}', csv ? { 'content-type': 'text/csv' } : JSON_TYPE)(request, response);
  });
  const csv = await get(web.provider, web.site.origin + url, { accept: ['text/csv', 'text/*'] });
  expect(csv).toMatchObject({ text: 'a\n1\n', resource: { mimeType: 'text/csv' } });
  expect((await get(web.provider, web.site.origin + url)).text).toBe('{"a":1}');
});
