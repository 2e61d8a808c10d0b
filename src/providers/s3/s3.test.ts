/** Tests how a bucket is shown: objects and folders of one name, marks of folders, types, order, and errors. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../test/e2e/waiting.ts';
import { type KeyStore, startKeyStore } from '../../../test/services/key-store.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { createNotes } from '../../core/notes.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { readLeaf } from '../../testing/observe.ts';
import { faultOf, problemOf } from './fault.ts';
import { type S3Options, s3Provider } from './index.ts';

/** Milliseconds between two looks of a watch. */
const WATCH_MS = 20;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

async function bucketWith(
  keys: Readonly<Record<string, string>>,
  options: Partial<S3Options> = {},
): Promise<{ readonly store: KeyStore; readonly provider: ResourceProvider }> {
  const store = await startKeyStore(new Map(Object.entries(keys)));
  opened.push(store);
  const base = {
    s3: 's3://bucket',
    endpoint: store.endpoint,
    region: 'x',
    anonymous: true,
    watchSeconds: WATCH_MS / 1_000,
  };
  const provider = await s3Provider({ ...base, ...options });
  opened.push({ [Symbol.asyncDispose]: async () => provider.close?.() });
  return { store, provider };
}

const ctx = createContext();
const urisIn = async (provider: ResourceProvider, uri: string): Promise<readonly string[]> =>
  (await provider.list(uri, { limit: 100 }, ctx)).resources.map((each) => each.uri);
const text = async (provider: ResourceProvider, uri: string): Promise<string> =>
  Buffer.from((await readLeaf(provider, uri)).bytes).toString();

describe('a bucket', () => {
  it('may have an object and a folder with the same name, each under its own URI', async () => {
    const { provider } = await bucketWith({ '2026': 'an object', '2026/a.txt': 'in a folder', '2025/b.txt': 'b' });
    expect(await urisIn(provider, 's3:///')).toEqual(['s3:///2025/', 's3:///2026', 's3:///2026/']);
    expect(await text(provider, 's3:///2026')).toBe('an object');
    await expect(provider.list('s3:///2026', { limit: 1 }, ctx)).rejects.toMatchObject({ code: 'not-listable' });
    expect(await urisIn(provider, 's3:///2026/')).toEqual(['s3:///2026/a.txt']);
    expect(await urisIn(provider, 's3:///2025')).toEqual(['s3:///2025/b.txt']);
    expect(await provider.metadata('s3:///2025', ctx)).toMatchObject({ uri: 's3:///2025/', name: '2025' });
  });

  it('has folders that contain only a mark, which is not listed', async () => {
    const { provider } = await bucketWith({ 'empty/': '', 'full/': 'not a mark', 'full/a': 'a' });
    expect(await urisIn(provider, 's3:///')).toEqual(['s3:///empty/', 's3:///full/']);
    expect(await urisIn(provider, 's3:///empty/')).toEqual([]);
    expect(await urisIn(provider, 's3:///full/')).toEqual(['s3:///full/;x=', 's3:///full/a']);
    expect(await text(provider, 's3:///full/;x=')).toBe('not a mark');
    expect(await provider.read('s3:///empty/', { maxBytes: 10, maxChildren: 10 }, ctx)).toEqual([]);
  });

  it('says of a folder that is read whether children of it are missing, and fails if all are', async () => {
    const { store, provider } = await bucketWith({ 'f/a': 'a', 'f/b': 'b', 'f/c': 'c' });
    const read = async (): Promise<unknown> => {
      const missing: unknown[] = [];
      const notes = { ...createNotes(), missing: (part: unknown) => void missing.push(part) };
      const bodies = await provider.read('s3:///f', { maxBytes: 10, maxChildren: 10 }, createContext({ notes }));
      return { names: bodies.map(({ resource }) => resource.name), missing };
    };
    store.refusals.set('f/b', 403);
    expect(await read()).toEqual({ names: ['a', 'c'], missing: [] });
    store.refusals.set('f/b', 503).set('f/c', 503);
    expect(await read()).toEqual({ names: ['a'], missing: [{ reason: 'Some children cannot be read now' }] });
    store.refusals.set('f/a', 503);
    await expect(read()).rejects.toMatchObject({ code: 'unavailable', uri: 's3:///f' });
    store.refusals.clear();
    expect(await read()).toEqual({ names: ['a', 'b', 'c'], missing: [] });
  });

  it('is listed and paged in the order of bytes, which is not that of UTF-16', async () => {
    const names = ['a!', 'a', '\u{1f600}', '\uff5e', 'Z', 'a/x'];
    const { provider } = await bucketWith(Object.fromEntries(names.map((name) => [name, name])));
    const whole = await urisIn(provider, 's3:///');
    expect(whole).toEqual(['s3:///Z', 's3:///a', 's3:///a!', 's3:///a/', 's3:///%EF%BD%9E', 's3:///%F0%9F%98%80']);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await provider.list('s3:///', { limit: 1, cursor }, ctx);
      paged.push(...page.resources.map((each) => each.uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(whole);
  });

  it('completes a path also if the matching keys come after many others', async () => {
    const odd = 'zz\u0001';
    const many = Object.fromEntries(Array.from({ length: 700 }, (_each, n) => [`m${String(n).padStart(4, '0')}`, '']));
    const folders = Object.fromEntries(
      Array.from({ length: 600 }, (_each, n) => [`d${String(n).padStart(4, '0')}/x`, '']),
    );
    const { provider } = await bucketWith({ ...many, ...folders, [odd]: '', 'b/;last': '', ';first': '' });
    const complete = (value: string, limit = 100) =>
      provider.complete?.({ uriTemplate: 's3:///{+path}', variable: 'path', value, known: {}, limit }, ctx);
    expect(await complete(';')).toEqual({ values: [';first', ';x=7a7a01'], hasMore: false, total: 2 });
    expect(await complete(';x=7a')).toEqual({ values: [';x=7a7a01'], hasMore: false, total: 1 });
    expect(await complete(';', 1)).toEqual({ values: [';first'], hasMore: true });
    expect(await complete('b/;')).toEqual({ values: ['b/;last'], hasMore: false, total: 1 });
    expect(await complete('m06', 99)).toMatchObject({ hasMore: true });
    expect(await complete('m06', 100)).toMatchObject({ hasMore: false, total: 100 });
    // Escaped names do not begin with the typed text, and the other names come after them.
    const escaped = Object.fromEntries(Array.from({ length: 30 }, (_each, n) => [`a\u0001${n}`, '']));
    const hidden = await bucketWith({ ...escaped, ab: '' });
    const request = { uriTemplate: 's3:///{+path}', variable: 'path', value: 'a', known: {}, limit: 5 };
    expect(await hidden.provider.complete?.(request, ctx)).toEqual({ values: ['ab'], hasMore: false, total: 1 });
  });

  it('does not claim to have all completions if it stopped looking', async () => {
    const many = Object.fromEntries(Array.from({ length: 6_000 }, (_each, n) => [`m${n}`, '']));
    const { provider, store } = await bucketWith({ ...many, ';first': '' });
    const before = store.requests;
    const request = { uriTemplate: 's3:///{+path}', variable: 'path', value: ';', known: {}, limit: 5 };
    expect(await provider.complete?.(request, ctx)).toEqual({ values: [';first'], hasMore: true });
    expect(store.requests - before).toBeLessThanOrEqual(10);
  });

  it('is watched up to a number of keys, and an object only while somebody watches', async () => {
    const { store, provider } = await bucketWith({ a: '1', b: '2', z: '3' }, { maxWatchedKeys: 2 });
    const told: string[] = [];
    const list = await provider.watch?.(undefined, (event) => void told.push(event.kind), ctx);
    const leaf = await provider.watch?.('s3:///z', (event) => void told.push(event.kind), ctx);
    store.keys.set('zz', 'behind what is looked at');
    store.keys.set('z', 'longer than before');
    await until(() => told.length > 0, 'the update of the object');
    expect(told).toEqual(['updated']);
    store.keys.delete('a');
    await until(() => told.includes('list-changed'), 'the change of the list');
    await list?.[Symbol.asyncDispose]();
    await leaf?.[Symbol.asyncDispose]();
    store.keys.set('z', 'and longer again');
    // The last look may still be running.
    await until(async () => {
      const before = store.requests;
      await pause(10 * WATCH_MS);
      return store.requests === before;
    }, 'the end of the requests');
  });
});

/** An error as the client throws it. */
const thrown = (name: string, status?: number, message = 'words of the store'): Error =>
  Object.assign(new Error(message), {
    name,
    ...(status !== undefined && { $metadata: { httpStatusCode: status } }),
    CanonicalRequest: 'x-amz-security-token:SECRET',
    StringToSign: 'SECRET',
  });

describe('an error of the store', () => {
  const { signal } = new AbortController();
  it.each<[string, number | undefined, string]>([
    ['NoSuchKey', 404, 'not-found'],
    ['NotFound', 404, 'not-found'],
    ['AccessDenied', 403, 'denied'],
    ['Unknown', 403, 'denied'],
    ['InvalidAccessKeyId', 403, 'unavailable'],
    ['SignatureDoesNotMatch', 403, 'unavailable'],
    ['ExpiredToken', 400, 'unavailable'],
    ['CredentialsProviderError', undefined, 'unavailable'],
    ['PermanentRedirect', 301, 'unavailable'],
    ['NoSuchBucket', 404, 'unavailable'],
    ['InvalidObjectState', 403, 'unavailable'],
    ['SlowDown', 503, 'unavailable'],
    ['TimeoutError', undefined, 'unavailable'],
    ['TooMany', 429, 'limited'],
    ['SomethingElse', 418, 'internal'],
  ])('%s with %s is %s, and contains neither text of the store nor secrets', (name, status, code) => {
    const fault = faultOf(thrown(name, status), 's3:///a', signal);
    expect(fault).toMatchObject({ code, uri: 's3:///a' });
    if (!(fault instanceof ResourceError)) throw new Error('not one of ours');
    expect(fault.message).not.toContain('words');
    expect(JSON.stringify([fault, fault.cause, (fault.cause as Error).message])).not.toContain('SECRET');
    const place = { bucket: 'b', endpoint: 'http://127.0.0.1:1/x', region: 'r' };
    expect(problemOf(thrown(name, status), place)).toMatch(/^s3:\/\/b at http:\/\/127\.0\.0\.1:1: [^\n]+$/);
  });

  it('is the reason of the signal if that was aborted', () => {
    const reason = new Error('gone');
    expect(faultOf(thrown('AbortError'), 's3:///a', AbortSignal.abort(reason))).toBe(reason);
  });

  it.each(['bucket', 's3:/bucket', 's3://', 's3://u:p@bucket/x', 's3:///a', 'https://bucket'])(
    'is not needed to refuse a place that is no bucket: %s',
    async (s3) => {
      await expect(s3Provider({ s3 })).rejects.toThrow(/^A bucket is written as/);
    },
  );

  it('is not needed to refuse half of the credentials', async () => {
    await expect(s3Provider({ s3: 's3://bucket', region: 'x', accessKeyId: 'a' })).rejects.toThrow(/go together/);
  });
});

it('an error of the store is not parsed if it is longer than an error may be, also in place of a list', async () => {
  const padding = (bytes: number): string =>
    `<Error><Code>AccessDenied</Code><Message>${'x'.repeat(bytes)}</Message></Error>`;
  let [status, sent] = [200, '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'];
  const server = createServer((_request, response) => response.writeHead(status).end(sent));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const base = { region: 'x', anonymous: true, attempts: 1 } as const;
  const provider = await s3Provider({ s3: 's3://bucket', endpoint: `http://127.0.0.1:${port}`, ...base });
  try {
    const listed = (): Promise<unknown> => provider.list('s3:///', { limit: 500 }, ctx);
    [status, sent] = [403, padding(60 * 1024)];
    await expect(listed()).rejects.toMatchObject({ code: 'denied' });
    sent = padding(70 * 1024);
    await expect(listed()).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    await provider.close?.();
    server.close();
    server.closeAllConnections();
  }
});
