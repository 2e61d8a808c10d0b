/** Rates of requests: over the wire, in both eras (SEC-TOOL-2, SEC-UTIL-4, SEC-UTIL-5). */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { failure, read } from '../e2e/answers.ts';
import { temporaryFolder, writeConfig } from '../e2e/folders.ts';
import { connect, ERAS, MATRIX } from '../e2e/harness.ts';
import { http, INITIALIZE, JSON_HEADERS } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import {
  as,
  asker,
  ENVELOPE,
  initialize,
  type Outcome,
  outcomeOf,
  type Person,
  postModern,
  serveWith,
} from './usage.ts';

const OFF = { principal: 'off', client: 'off', methods: { 'tools/call': 'off', 'completion/complete': 'off' } };
const URI = 'memory:///note.txt';

/** Sends requests until one is refused. Gives the number that passed, and the refusal. */
async function untilRefused(ask: () => Promise<Outcome>, most = 50): Promise<{ passed: number; refused: Outcome }> {
  for (let passed = 0; passed < most; passed++) {
    const outcome = await ask();
    if (outcome.error !== undefined) return { passed, refused: outcome };
  }
  throw new Error(`${most} requests passed`);
}

const limited = (limit: string) => ({
  code: -32_603,
  data: { reason: 'limited', retryable: true, limit, retryAfterMs: expect.any(Number) },
});

describe.each(MATRIX)('a rate in the configuration, over $transport in the $era era', ({ transport, era }) => {
  it('refuses requests with its name and the time to try again, and the connection goes on [SEC-TOOL-2, RES-10]', async () => {
    await using folder = await temporaryFolder({ 'docs/a.txt': 'A' });
    const limits = { rates: { methods: { 'resources/read': '3/h' }, tools: { read: '1/h' } } };
    const config = await writeConfig(folder, { mounts: { docs: './docs' }, limits });
    await using on = await connect(transport, era, [config]);
    for (let count = 0; count < 3; count++) expect(await read(on, 'docs+file:///a.txt')).toHaveLength(1);
    const { code, data } = await failure(read(on, 'docs+file:///a.txt'));
    expect({ code, data }).toMatchObject(limited('rates.methods.resources/read'));
    expect(data?.retryAfterMs).toBeGreaterThan(0);
    expect(data?.retryAfterMs).toBeLessThanOrEqual(3_600_000);
    const call = () => on.request('tools/call', { name: 'read', arguments: { uri: 'docs+file:///a.txt' } });
    expect(await call()).not.toHaveProperty('isError', true);
    expect(await failure(call())).toMatchObject(limited('rates.tools.read'));
    await on.request('tools/call', { name: 'list', arguments: {} });
    await on.request('resources/list');
  });
});

describe.each(ERAS)('rates over HTTP, %s', (era) => {
  it('count each principal; anonymous callers count as one if others authenticate [SEC-TOOL-2, RES-10]', async () => {
    await using on = await serveWith({ rates: { ...OFF, principal: '8/h' } });
    const asking = async (person: Person) => {
      const ask = await asker(on.url, era, person);
      return untilRefused(() => ask('resources/read', { uri: URI }));
    };
    const { passed, refused } = await asking('ann');
    // In the 2025 era, the handshake counts as well.
    expect(passed).toBe(era === 'legacy' ? 6 : 8);
    expect(refused.error).toMatchObject(limited('rates.principal'));
    expect(refused.response.status).toBe(200);
    expect((await asking('bob')).passed).toBe(passed);
    expect((await asking(undefined)).refused.error).toMatchObject(limited('rates.anonymous'));
  });

  it('of a tool count the calls of each principal [SEC-TOOL-2]', async () => {
    await using on = await serveWith({ rates: { ...OFF, tools: { echo: '2/h', hidden: '2/h' } } });
    const ann = await asker(on.url, era, 'ann');
    const bob = await asker(on.url, era, 'bob');
    const { passed, refused } = await untilRefused(() => ann('tools/call', { name: 'echo', arguments: {} }));
    expect(passed).toBe(2);
    expect(refused.error).toMatchObject(limited('rates.tools.echo'));
    expect((await bob('tools/call', { name: 'echo', arguments: {} })).error).toBeUndefined();
    expect((await ann('tools/call', { name: 'list', arguments: {} })).error).toBeUndefined();
    // Calls of missing tools count, too, so that a limit does not tell which tools exist.
    const hidden = () => ann('tools/call', { name: 'hidden', arguments: {} });
    const answers = [await hidden(), await hidden(), await hidden()];
    expect(answers.map(({ error }) => error?.data?.reason)).toEqual(['invalid', 'invalid', 'limited']);
  });

  it('of completions are counted separately [SEC-UTIL-5]', async () => {
    await using on = await serveWith({ rates: { ...OFF, methods: { ...OFF.methods, 'completion/complete': '2/h' } } });
    const ask = await asker(on.url, era, 'ann');
    const complete = () =>
      ask('completion/complete', {
        ref: { type: 'ref/resource', uri: 'memory:///{+path}' },
        argument: { name: 'path', value: 'n' },
      });
    const { passed, refused } = await untilRefused(complete);
    expect(passed).toBe(2);
    expect(refused.error).toMatchObject(limited('rates.methods.completion/complete'));
    expect((await ask('resources/read', { uri: URI })).error).toBeUndefined();
  });

  it('leave a line in the audit when they refuse [RES-9]', async () => {
    await using folder = await temporaryFolder();
    const file = folder.at('audit.jsonl');
    await using on = await serveWith(
      { rates: { ...OFF, methods: { ...OFF.methods, 'resources/read': '1/h' } } },
      { audit: { file } },
    );
    const ask = await asker(on.url, era, 'ann');
    await untilRefused(() => ask('resources/read', { uri: URI }));
    const line = await until(
      async () => (await readFile(file, 'utf8')).split('\n').find((each) => each.includes('"outcome":"limited"')),
      'a line of the refusal',
    );
    expect(JSON.parse(line)).toMatchObject({ method: 'resources/read', uri: URI, principal: 'token:ann' });
  });
});

describe('Retry-After', () => {
  it('is in every JSON response, in seconds', async () => {
    await using on = await serveWith({ rates: { ...OFF, methods: { ...OFF.methods, 'resources/list': '1/h' } } });
    const ask = await asker(on.url, 'modern', 'ann');
    const { refused } = await untilRefused(() => ask('resources/list'));
    const seconds = Number(refused.response.headers['retry-after']);
    expect(seconds).toBe(Math.ceil(Number(refused.error?.data?.retryAfterMs) / 1_000));
    // The same holds with a progress token, with which the SDK's code answers.
    const params = { _meta: { ...ENVELOPE, progressToken: 1 } };
    const other = outcomeOf(await postModern(on.url, { params }, 'resources/list', 'ann'));
    expect(other.error).toMatchObject(limited('rates.methods.resources/list'));
    expect(Number(other.response.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('many messages that run nothing [SEC-UTIL-4]', () => {
  it('are refused: pings and unknown methods as requests, notifications and GET by status', async () => {
    await using on = await serveWith({ rates: { ...OFF, principal: '10/h' } });
    const ask = await asker(on.url, 'legacy', 'ann');
    const { passed, refused } = await untilRefused(() => ask('ping'));
    expect(passed).toBe(8);
    expect(refused.error).toMatchObject(limited('rates.principal'));
    expect(Number(refused.response.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('no/such')).error).toMatchObject(limited('rates.principal'));
    const notify = (body: unknown) =>
      http(on.url, { headers: { ...JSON_HEADERS, ...as('ann') }, body: JSON.stringify(body) });
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const body of [notification, [notification, notification]]) {
      const response = await notify(body);
      expect(response.status).toBe(429);
      expect(outcomeOf(response).error).toMatchObject(limited('rates.principal'));
    }
    const got = await http(on.url, { method: 'GET', headers: { accept: 'text/event-stream', ...as('ann') } });
    expect(got.status).toBe(429);
    // Other principals are not limited by that.
    expect((await initialize(on.url, 'bob')).status).toBe(200);
  });

  it('are refused in the 2026 era, too: server/discover', async () => {
    await using on = await serveWith({ rates: { ...OFF, principal: '5/h' } });
    const ask = await asker(on.url, 'modern', 'ann');
    const { passed, refused } = await untilRefused(() => ask('server/discover'));
    expect(passed).toBe(5);
    expect(refused.error).toMatchObject(limited('rates.principal'));
  });

  it('that are handshakes open no more sessions than allowed', async () => {
    await using on = await serveWith({ rates: { ...OFF, principal: '3/h' } });
    const answers = [];
    for (let count = 0; count < 6; count++) answers.push(outcomeOf(await initialize(on.url, 'ann')));
    expect(answers.filter(({ error }) => error === undefined)).toHaveLength(3);
    expect(INITIALIZE.protocolVersion).toBe('2025-11-25');
  });
});
