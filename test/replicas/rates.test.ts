/** Rates that replicas count together: they let no more pass than configured, whichever replica gets the requests. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { ENVELOPE, JSON_HEADERS } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { connectInTurn } from './in-turn.ts';
import { startProxy, startVitrine } from './processes.ts';

/** Requests in an hour: the period does not end during the test. */
const MOST = 600;
const AT_ONCE = 24;

/** The message and the data of the error of a request of 2026; undefined if the request passes. */
async function errorOf(url: string): Promise<{ readonly message: string; readonly data?: unknown } | undefined> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/list' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: ENVELOPE } }),
  });
  const { error } = (await response.json()) as {
    readonly error?: { readonly message: string; readonly data?: unknown };
  };
  return error;
}

/** Gives how many of the requests pass, and the errors of the others. */
async function count(url: string, requests: number) {
  let left = requests;
  let passed = 0;
  const errors: { readonly message: string; readonly data?: unknown }[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) {
        const error = await errorOf(url);
        if (error === undefined) passed++;
        else errors.push(error);
      }
    }),
  );
  return { passed, errors };
}

const LIMITED = {
  message: `Too many requests: there may be ${MOST}/h (limits.rates.anonymous)`,
  data: { reason: 'limited', retryable: true, limit: 'rates.anonymous', retryAfterMs: expect.any(Number) },
};

const config = (without: string): string =>
  `mounts: { docs: ./docs }\nkeys: ['\${KEYS}']\nbus: '\${BUS}'\nlimits: { without: ${without}, rates: { anonymous: ${MOST}/h } }\n`;

/** Resolves when `/readyz` has this state. */
const isReady = (port: number, facts: object): Promise<unknown> =>
  until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`);
    return isDeepStrictEqual(await response.json(), facts);
  }, JSON.stringify(facts));

describeWith([redis])('three replicas over Redis', () => {
  it.each(['local', 'refuse'])('count together, and while the bus is away as `without: %s` says', async (without) => {
    await using server = await startRedis();
    await using folder = await temporaryFolder({ 'docs/note.txt': 'first', 'vitrine.yaml': config(without) });
    const env = { KEYS: randomBytes(32).toString('base64'), BUS: server.url };
    const start = () => startVitrine(['--config', folder.at('vitrine.yaml'), '--http', '0'], env);
    const replicas = await Promise.all([start(), start(), start()]);
    try {
      const ports = replicas.map(({ port }) => port);
      await using proxy = await startProxy(ports);
      const together = await count(proxy.url, MOST + 200);
      expect(together.passed).toBeLessThanOrEqual(MOST);
      expect(together.passed).toBeGreaterThanOrEqual(MOST * 0.98);
      for (const error of together.errors) expect(error).toMatchObject(LIMITED);
      // A session of 2025 is refused in the same way.
      await expect(connectInTurn(() => [proxy.url])).rejects.toThrow(LIMITED.message);

      await server.stop();
      const away = { status: 'ready', bus: 'away', rates: without === 'local' ? 'counted alone' : 'refused' };
      await Promise.all(ports.map((port) => isReady(port, away)));
      const apart = await count(proxy.url, MOST);
      if (without === 'local') expect(apart).toEqual({ passed: MOST, errors: [] });
      else {
        expect(apart.passed).toBe(0);
        for (const { message } of apart.errors) expect(message).toContain('(limits.rates.anonymous), and the bus for');
      }
      const errors = replicas.map((each) => each.errors());
      for (const each of errors) expect(each.match(/rates follow limits.without/g)).toHaveLength(1);

      await server.start();
      await Promise.all(ports.map((port) => isReady(port, { status: 'ready' })));
      // Redis has forgotten the count. Each replica knows that the hour has not ended.
      const again = await count(proxy.url, AT_ONCE);
      expect(again.passed).toBe(0);
      for (const error of again.errors) expect(error).toMatchObject(LIMITED);
      for (const each of replicas) expect(await each.stop()).toBe(0);
    } finally {
      await Promise.all(replicas.map((each) => each[Symbol.asyncDispose]()));
    }
  });
});

describe('two workers', () => {
  it('count together', async () => {
    await using folder = await temporaryFolder({
      'docs/note.txt': 'first',
      'vitrine.yaml': `mounts: { docs: ./docs }\nlimits: { rates: { anonymous: ${MOST}/h } }\n`,
    });
    await using serving = await startVitrine(['--config', folder.at('vitrine.yaml'), '--http', '0', '--workers', '2']);
    const together = await count(`http://127.0.0.1:${serving.port}/mcp`, MOST + 200);
    expect(together.passed).toBeLessThanOrEqual(MOST);
    expect(together.passed).toBeGreaterThanOrEqual(MOST * 0.98);
    for (const error of together.errors) expect(error).toMatchObject(LIMITED);
    expect(await serving.stop()).toBe(0);
  });
});
