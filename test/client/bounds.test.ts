/** Work on a server ends when the caller leaves, a filter excludes the rest, or the server refuses, stays silent or never ends. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createResourceClient, type ResourceClient } from '../../src/client/index.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Answers, all, eraOf, refusal, type Scripted, scripted } from './scripted.ts';

/** An entry that is valid in both eras. */
const named = (uri: string, more: object = {}): object => ({
  uri,
  name: uri.slice(uri.lastIndexOf('/') + 1) || uri,
  ...more,
});

const DIRECTORY = { mimeType: 'inode/directory', capabilities: { list: true, subscribe: false } };
const SEP_2093 = { resources: {}, extensions: { 'vitrine/resource-metadata': {} } };

describe.each(ERAS)('work on a server of the %s era', (era) => {
  async function against(
    answers: Answers,
    run: (resources: ResourceClient, server: Scripted) => Promise<void>,
    capabilities: object = SEP_2093,
  ): Promise<void> {
    await using server = await scripted(answers, capabilities as Readonly<Record<string, unknown>>);
    await using resources = createResourceClient({ url: server.url, ...eraOf[era] });
    await run(resources, server);
  }

  it('a walk that is left or aborted makes no further requests', async () => {
    const answer = ({ uri = 'x://' }: Readonly<Record<string, unknown>>) => ({
      resources: ['left', 'right'].map((name) => named(`${uri}/${name}`, DIRECTORY)),
    });
    await against({ 'resources/list': answer }, async (resources, server) => {
      let seen = 0;
      for await (const _ of resources.walk('x:///a', { concurrency: 8 })) if (++seen === 20) break;
      const abort = new AbortController();
      const aborted = (async () => {
        for await (const _ of resources.walk('x:///a', { signal: abort.signal })) {
          if (++seen === 40) abort.abort(new Error('enough'));
        }
      })();
      await expect(aborted).rejects.toThrow('enough');
      // Ten pages of each walk, those that the walks requested ahead, and the three lists.
      for (let time = 0; time < 3; time++) await all(resources.list('x:///b'));
      expect(server.count('resources/list')).toBeLessThanOrEqual(10 + 8 + 10 + 4 + 3);
    });
  });

  it('a container that cannot be listed does not affect the others', async () => {
    const answer = ({ uri }: Readonly<Record<string, unknown>>) => {
      if (uri === 'x:///a') return { resources: ['bad', 'good'].map((name) => named(`x:///a/${name}`, DIRECTORY)) };
      if (uri === 'x:///a/bad') throw refusal(-32603);
      return { resources: [named('x:///a/good/one')] };
    };
    await against({ 'resources/list': answer }, async (resources) => {
      const walk = resources.walk('x:///a');
      expect(await all(walk)).toHaveLength(3);
      expect(walk.report.stops).toMatchObject([{ reason: 'failed', uri: 'x:///a/bad', error: { code: 'failed' } }]);
    });
  });

  it('a filter decides which entries are given and which containers are entered', async () => {
    const answer = ({ uri }: Readonly<Record<string, unknown>>) => ({
      resources: ['skip', 'only', 'in', 'all'].map((name) => named(`${uri}/${name}`, DIRECTORY)),
    });
    await against({ 'resources/list': answer }, async (resources) => {
      const verdicts = { skip: false, only: 'give', in: 'descend', all: true } as const;
      const filter = ({ resource }: { readonly resource: { readonly name: string } }) =>
        verdicts[resource.name as keyof typeof verdicts];
      const found = await all(resources.walk('x:///r', { filter, maxDepth: 2 }));
      expect(found.map(({ resource }) => resource.uri.slice('x:///r/'.length))).toEqual([
        'only',
        'all',
        'in/only',
        'in/all',
        'all/only',
        'all/all',
      ]);
    });
  });

  it('invalid entries are left out and counted; an invalid page is an error', async () => {
    const entries = [null, 7, 'x', [], {}, { uri: 3 }, { uri: '' }, named('x:'.padEnd(70_000, 'y')), { uri: 'x:ok' }];
    await against({ 'resources/list': () => ({ resources: entries }) }, async (resources) => {
      const listing = resources.list();
      expect(await all(listing)).toEqual([{ uri: 'x:ok', name: 'ok' }]);
      expect(listing.report.dropped).toBe(8);
    });
    await against({ 'resources/list': () => ({ resources: 'all' }) }, async (resources) => {
      await expect(all(resources.list())).rejects.toMatchObject({ code: 'invalid-answer' });
    });
    await against(
      { 'resources/list': () => ({ resources: [], nextCursor: 'c'.repeat(70_000) }) },
      async (resources) => {
        await expect(all(resources.list())).rejects.toMatchObject({ code: 'invalid-answer' });
      },
    );
  });

  it('a server that never answers is given up after a time, or by its caller', async () => {
    const never = (_: unknown, signal: AbortSignal): Promise<object> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    await against({ 'resources/read': never }, async (resources) => {
      await expect(resources.read('x:///a', { timeoutMs: 50 })).rejects.toMatchObject({
        code: 'timeout',
        retryable: true,
      });
      const abort = new AbortController();
      const reading = resources.read('x:///a', { signal: abort.signal });
      abort.abort(new Error('enough'));
      await expect(reading).rejects.toThrow('enough');
    });
  });
});

describe('an endless body', () => {
  async function endless(type: string, run: (url: string, sent: () => number) => Promise<void>): Promise<void> {
    let sent = 0;
    const answer: RequestListener = (_, response) => {
      response.writeHead(200, { 'content-type': type });
      const chunk = type === 'application/json' ? '["x",'.padEnd(64 * 1024) : `: ${'x'.repeat(64 * 1024)}`;
      const send = (): void => {
        sent += chunk.length;
        if (response.destroyed) return;
        if (response.write(chunk)) setImmediate(send);
        else response.once('drain', send);
      };
      send();
    };
    const server = createServer(answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, () => sent);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  it.each(['application/json', 'text/event-stream'])('of %s is cut off [SEC-RES-3]', async (type) => {
    await endless(type, async (url, sent) => {
      const limit = 1024 * 1024;
      await using resources = createResourceClient({
        url,
        maxMessageBytes: limit,
        connectTimeoutMs: 5_000,
        ...eraOf.modern,
      });
      await expect(resources.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        name: 'ResourceClientError',
      });
      // The server may have sent more than the limit before the client closes the connection.
      expect(sent()).toBeLessThan(64 * limit);
    });
  });
});
