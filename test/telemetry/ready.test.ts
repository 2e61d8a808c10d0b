/** Whether the server is ready, and who is told the reason if not. */
import { expect, it } from 'vitest';
import { upstream } from '../../src/providers/upstream/index.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { startHttp } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { startFixture } from '../gateway/fixture/link.ts';
import { observe } from './engine.ts';

const ready = async (url: string, headers: Record<string, string> = {}): Promise<[number, unknown]> => {
  const response = await fetch(new URL('/readyz', url), { headers });
  return [response.status, await response.json()];
};

it('readiness changes when a required mount is away, and names the mount on this machine only', async () => {
  await using folder = await temporaryFolder({});
  const [needed, other] = [await startFixture('modern'), await startFixture('modern')];
  const mounts = { needed: { url: needed.url, required: true }, other: { url: other.url } };
  await using on = await startHttp([await writeConfig(folder, { mounts })]);
  try {
    const first = await until(async () => {
      const answer = await ready(on.url);
      return answer[0] === 200 && answer;
    }, 'the server to be ready');
    expect(first).toEqual([200, { status: 'ready' }]);
    await Promise.all([needed.stop(), other.stop()]);
    // No request uses the mount, so the server has to ask it.
    const [, body] = await until(async () => {
      const answer = await ready(on.url);
      return answer[0] === 503 && answer;
    }, 'the server to be not ready');
    expect(body).toEqual({ status: 'unavailable', mounts: ['needed'] });
    expect(await ready(on.url, { 'X-Forwarded-For': '203.0.113.9' })).toEqual([503, { status: 'unavailable' }]);
    expect((await fetch(new URL('/healthz', on.url))).status).toBe(200);
  } finally {
    await Promise.all([needed.stop(), other.stop()]);
  }
});

it('readiness names a mount only to callers with the token of the metrics, if they have one', async () => {
  const up = upstream({ name: 'crm', target: { url: 'http://127.0.0.1:9/mcp' } });
  await using on = await observe({
    mounts: [{ name: 'crm', provider: up.provider, server: up.server, ready: () => up.check(1_000) }],
    setup: { prometheus: true },
    metrics: { token: 'a-token-for-the-scraper' },
    http: { auth: { resource: 'http://127.0.0.1/mcp', tokens: [{ name: 'somebody', hash: 'a'.repeat(64) }] } },
  });
  expect(await up.ready(10_000)).toBe(false);
  expect(await ready(on.serving.url)).toEqual([503, { status: 'unavailable' }]);
  const headers = { Authorization: 'Bearer a-token-for-the-scraper' };
  expect(await ready(on.serving.url, headers)).toEqual([503, { status: 'unavailable', mounts: ['crm'] }]);
});
