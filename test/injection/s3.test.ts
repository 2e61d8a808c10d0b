/** Keys that a careless path would change: each has one URI, and no URI leads out of the mount. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContext } from '../../src/core/context.ts';
import { ResourceError } from '../../src/core/errors.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { s3Provider } from '../../src/providers/s3/index.ts';
import { parseKeyUri, uriOfKey, uriOfPrefix } from '../../src/providers/s3/names.ts';
import { readLeaf } from '../../src/testing/observe.ts';
import { type KeyStore, startKeyStore } from '../services/key-store.ts';
import { type S3Server, s3, startS3 } from '../services/s3.ts';
import { describeWith } from '../services/service.ts';

/** Keys of other programs, all below a root. */
const KEYS: readonly string[] = [
  'plain.txt',
  'a',
  'a/',
  'a//',
  'a/b',
  'a//b',
  '/',
  '/leading',
  '//',
  '.',
  '..',
  './x',
  '../x',
  'x/..',
  'x/../y',
  '...',
  '%2e%2e/x',
  '%2F',
  '%00',
  ';x=',
  ';x=2e2e',
  'dir/;x=00',
  'back\\slash',
  'a\\..\\b',
  'tab\there',
  'line\nbreak',
  'null\u0000byte',
  'del\u007f',
  'c1\u0085',
  'replacement\ufffd',
  '\ufeffmark',
  '\u202egnp.exe',
  'caf\u00e9',
  'cafe\u0301',
  '😀/👩‍🔬',
  'a+b',
  'a b',
  'a%20b',
  '?prefix=..',
  '#fragment',
  '?versionId=1&x',
  '<Key>&amp;</Key>',
  '&lt;',
  "' OR 1=1",
  '"quoted"',
  's3://other/bucket',
  'http://169.254.169.254/',
  '{+path}',
  '$' + '{AWS_SECRET_ACCESS_KEY}',
  '__proto__',
  'x'.repeat(1_024),
];

describe('a key', () => {
  it.each(KEYS)('%j has one URI, which means that key', (key) => {
    const uri = uriOfKey(key);
    expect(uri).toMatch(/^s3:\/\/\/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*$/);
    expect(uri.slice('s3://'.length)).not.toMatch(/\/\.{0,2}(?:\/|$)/);
    expect(parseKeyUri(uri)).toEqual({ key, isPrefix: false });
    expect(parseKeyUri(uriOfPrefix(`${key}/`))).toEqual({ key: `${key}/`, isPrefix: true });
  });

  it('has a URI that no other key has, nor a prefix', () => {
    const uris = KEYS.flatMap((key) => [uriOfKey(key), uriOfPrefix(`${key}/`)]);
    expect(new Set(uris).size).toBe(uris.length);
  });

  it.each([
    's3:///../outside',
    's3:///a/..',
    's3:///%2e%2e/outside',
    's3:///a//b',
    's3:////a',
    's3:///a%2Fb',
    's3:///a%5Cb',
    's3:///a%00b',
    's3:///;x=2E2E',
    's3:///;x=2e2',
    's3:///;x=61',
    's3:///;x=2f',
    's3:///;x=c328',
    's3:///;x=zz',
    's3:///a?versionId=1',
    's3:///a#b',
    's3://other/a',
    `s3:///${'x'.repeat(1_025)}`,
  ])('has no other spelling: %s', (uri) => {
    expect(() => parseKeyUri(uri)).toThrow(ResourceError);
  });
});

describe('a store that accepts any key', () => {
  let store: KeyStore;
  let provider: ResourceProvider;
  beforeAll(async () => {
    store = await startKeyStore(new Map(KEYS.map((key) => [`root/${key}`, `content of ${key}`])));
    store.keys.set('outside', 'SECRET');
    store.keys.set('root', 'SECRET');
    provider = await s3Provider({ s3: 's3://bucket/root', endpoint: store.endpoint, region: 'x', anonymous: true });
  });
  afterAll(async () => {
    await provider?.close?.();
    await store?.[Symbol.asyncDispose]();
  });

  it('is listed completely, in pages of any size, and each key is read under its own URI', async () => {
    const walk = async (limit: number): Promise<string[]> => {
      const found: string[] = [];
      const folders: string[] = ['s3:///'];
      for (const folder of folders) {
        let cursor: string | undefined;
        do {
          const page = await provider.list(folder, { limit, cursor }, createContext());
          for (const { uri, capabilities } of page.resources) (capabilities?.list ? folders : found).push(uri);
          cursor = page.nextCursor;
        } while (cursor !== undefined);
      }
      return found;
    };
    const uris = KEYS.map(uriOfKey);
    for (const limit of [1, 3, 100]) expect((await walk(limit)).sort()).toEqual([...uris].sort());
    for (const [index, uri] of uris.entries()) {
      expect(Buffer.from((await readLeaf(provider, uri)).bytes).toString()).toBe(`content of ${KEYS[index]}`);
      expect((await provider.metadata(uri, createContext())).uri).toBe(uri);
    }
  });

  it('completes values that lead to its keys', async () => {
    const complete = async (value: string): Promise<readonly string[]> => {
      const request = { uriTemplate: 's3:///{+path}', variable: 'path', value, known: {}, limit: 100 };
      return (await provider.complete?.(request, createContext()))?.values ?? [];
    };
    expect(await complete('a')).toEqual(['a', 'a b', 'a%2520b', 'a+b', 'a/']);
    expect(await complete('a/')).toEqual(['a/;x=', 'a/;x=/', 'a/b']);
    expect(await complete(';')).toContain(';x=2e2e');
    expect(await complete('../')).toEqual([]);
  });
});

describeWith([s3])('a store that confuses keys', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  it('gives nothing outside of the mount, and each object has one name [SEC-RES-1]', async () => {
    const bucket = await server.newBucket();
    await server.put(bucket, 'root/in.txt', 'in');
    await server.put(bucket, 'outside.txt', 'SECRET');
    const provider = await s3Provider({ s3: `s3://${bucket}/root`, ...server });
    try {
      for (const key of ['../outside.txt', './in.txt', '/in.txt', 'x/../../outside.txt', '../root/in.txt', '..', '.']) {
        const uri = uriOfKey(key);
        for (const work of [
          () => provider.metadata(uri, createContext()),
          () => provider.list(uri, { limit: 10 }, createContext()),
          () => provider.list(`${uri}/`, { limit: 10 }, createContext()),
          () => provider.read(uri, { maxBytes: 1_000, maxChildren: 10 }, createContext()),
          () => provider.read(uri, { maxBytes: 1_000, maxChildren: 10, range: { offset: 0 } }, createContext()),
        ])
          await expect(work(), uri).rejects.toMatchObject({ code: 'not-found' });
      }
      expect((await readLeaf(provider, 's3:///in.txt')).bytes.byteLength).toBe(2);
    } finally {
      await provider.close?.();
    }
  });
});
