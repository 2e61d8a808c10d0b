/** Kept answers to reads: when they are given again, and to whom. They are the same as new ones, only faster. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AccessDecision } from '../../src/core/access.ts';
import { ANONYMOUS, createContext, type Principal } from '../../src/core/context.ts';
import type { Telemetry } from '../../src/core/telemetry.ts';
import { temporaryFolder } from './folders.ts';
import { ERAS } from './harness.ts';
import { type Asking, auditLines, serve, stopClock, URI } from './kept-server.ts';
import { until } from './waiting.ts';

const ANNA: Principal = { id: 'anna', subject: 'anna' };
const BEN: Principal = { id: 'ben', subject: 'ben' };
const CARL: Principal = { id: 'carl', subject: 'carl' };

beforeEach(stopClock);
afterEach(() => vi.restoreAllMocks());

const itemIn = (answer: string) => JSON.parse(answer).result.contents[0];
const errorIn = (answer: string) => JSON.parse(answer).error;

/** The code of a missing resource. */
const MISSING = { legacy: -32_002, modern: -32_602 } as const;

describe.each(ERAS)('in the %s era', (era) => {
  it('an unchanged resource is not read again, and the answer is the same, byte for byte', async () => {
    await using fresh = serve({ limits: { keptBytes: 0 } });
    await using server = serve();
    const expected = (await fresh.read(era)).replace(/"lastModified":"[^"]*"/, '');
    for (let count = 0; count < 3; count++)
      expect((await server.read(era)).replace(/"lastModified":"[^"]*"/, '')).toBe(expected);
    expect(server.reads()).toBe(1);
    expect(fresh.reads()).toBe(1);
  });

  it('no answer is kept if there is no room', async () => {
    await using server = serve({ limits: { keptBytes: 0 } });
    await server.read(era);
    await server.read(era);
    expect(server.reads()).toBe(2);
  });

  it('a changed resource is read again at once', async () => {
    await using server = serve();
    await server.read(era);
    for (const text of ['# Steel\n', '# Glass\n']) {
      server.memory.set('a.md', { text });
      expect(itemIn(await server.read(era)).text).toBe(text);
    }
    server.memory.delete('a.md');
    expect(errorIn(await server.read(era))).toMatchObject({ code: MISSING[era], data: { uri: URI } });
  });

  it('access is decided again for each request [SEC-RES-2]', async () => {
    let effect: AccessDecision['effect'] = 'allow';
    const decide = (): AccessDecision => ({ effect, rule: 'the one' });
    await using server = serve({
      access: { name: 'changing', attributes: false, decide, readMeansAll: () => true },
    });
    await server.read(era);
    await server.read(era);
    expect(server.reads()).toBe(1);
    effect = 'deny';
    expect(errorIn(await server.read(era)).message).toContain('denied');
    effect = 'hide';
    expect(errorIn(await server.read(era))).toMatchObject({ code: MISSING[era], data: { uri: URI } });
    effect = 'allow';
    expect(itemIn(await server.read(era)).text).toBe('# Brass\n');
    expect(server.reads()).toBe(1);
  });

  it('each principal gets what it may have, whatever others were given [SEC-RES-2, 2093-3]', async () => {
    await using server = serve({
      access: {
        rules: [
          { effect: 'hide', who: { subjects: ['ben'] } },
          { effect: 'allow', who: { subjects: ['anna'] } },
          { effect: 'allow', who: { subjects: ['carl'] }, operations: ['read', 'list', 'metadata'] },
        ],
      },
    });
    const allowed = await server.read(era, { principal: ANNA });
    for (let count = 0; count < 2; count++) {
      expect(await server.read(era, { principal: ANNA })).toBe(allowed);
      expect(itemIn(allowed).capabilities).toEqual({ list: false, subscribe: true });
      expect(errorIn(await server.read(era, { principal: BEN }))).toMatchObject({
        code: MISSING[era],
        data: { uri: URI },
      });
      const less = itemIn(await server.read(era, { principal: CARL }));
      expect(less.capabilities).toEqual({ list: false, subscribe: false });
    }
    // Once for Anna, who may do everything, and each time for Carl, who gets another description.
    expect(server.reads()).toBe(3);
  });

  it('the audit has the same lines as without kept answers [RES-9]', async () => {
    const linesOf = async (keptBytes: number): Promise<string[]> => {
      await using folder = await temporaryFolder();
      const file = folder.at('audit.jsonl');
      {
        await using server = serve({
          audit: { file },
          limits: { keptBytes },
          access: { rules: [{ effect: 'deny', who: { subjects: ['ben'] } }, { effect: 'allow' }] },
        });
        for (const principal of [ANNA, ANNA, BEN, ANNA, CARL]) await server.read(era, { principal });
        await server.read(era);
        await server.read(era);
        expect(server.reads()).toBe(keptBytes === 0 ? 6 : 1);
      }
      return await auditLines(file, '"method":"read"');
    };
    const lines = await linesOf(1_000_000);
    expect(lines).toHaveLength(7);
    expect(lines).toEqual(await linesOf(0));
  });

  it('a kept answer counts as a request [SEC-RES-4]', async () => {
    await using server = serve({ limits: { rates: { anonymous: '5/h' } } });
    for (let turn = 0; turn < 5; turn++) await server.read(era);
    expect(errorIn(await server.read(era)).data).toMatchObject({ reason: 'limited', limit: 'rates.anonymous' });
    expect(server.reads()).toBe(1);
  });

  it('concurrent reads get kept answers no more often than rates allow [SEC-RES-4]', async () => {
    const methods = { 'resources/read': '9/h' };
    await using server = serve({ limits: { rates: { principal: '12/h', methods }, anonymousIsOne: true } });
    await server.read(era);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, id) => server.read(era, { id })));
    expect(answers.filter((answer) => answer.includes('# Brass'))).toHaveLength(8);
  });

  it('a kept answer needs room under the limit of concurrency', async () => {
    await using server = serve({ limits: { maxConcurrent: 1 } });
    await server.read(era);
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { admission } = server.vitrine;
    const running = admission.run({ method: 'tools/call' }, createContext(), () => held);
    await until(() => admission.atOnce({ method: 'resources/read' }, ANONYMOUS) === undefined, 'the call to run');
    expect(errorIn(await server.read(era)).data).toMatchObject({ reason: 'limited' });
    release();
    await running;
    expect(itemIn(await server.read(era)).text).toBe('# Brass\n');
  });

  it('telemetry records each request', async () => {
    const told: string[] = [];
    const telemetry: Telemetry = {
      layer: () => (inner) => inner,
      request(request, run) {
        told.push(request.method);
        return run({ outgoing: (_outgoing, ask) => ask({}) });
      },
      opened: () => () => {},
      engine: () => ({ [Symbol.dispose]() {} }),
    };
    await using server = serve({ telemetry });
    await server.read(era);
    expect(await server.read(era)).toBe(await server.read(era));
    expect(told).toEqual(Array(3).fill('resources/read'));
  });

  it('a read that a human has to confirm is asked about each time', async () => {
    await using server = serve({ confirm: [URI] });
    for (let count = 0; count < 2; count++) expect(errorIn(await server.read(era)).message).toContain('confirmed');
    expect(server.reads()).toBe(0);
  });

  it.each<[string, Asking]>([
    ['a window', { meta: { 'vitrine/range': { offset: 0, length: 3 } } }],
    ['a type', { meta: { 'vitrine/accept': ['text/*'] } }],
    ['lines', { uri: `${URI}#L1` }],
    ['another spelling', { uri: 'm+memory:///%61.md' }],
  ])('%s of a kept resource is read', async (_, asking) => {
    await using server = serve();
    const whole = await server.read(era);
    const first = await server.read(era, asking);
    expect(await server.read(era, asking)).toBe(first);
    expect(await server.read(era)).toBe(whole);
    expect(server.reads()).toBeGreaterThan(1);
  });

  it('an answer is kept for a second, whatever its provider says', async () => {
    await using server = serve();
    await server.read(era);
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now');
    clock.mockImplementation(() => now + 900);
    await server.read(era);
    expect(server.reads()).toBe(1);
    clock.mockImplementation(() => now + 2_000);
    await server.read(era);
    expect(server.reads()).toBe(2);
  });
});

it('an answer that was made in one era is given again in the other', async () => {
  await using server = serve();
  const modern = JSON.parse(await server.read('modern')).result;
  const { resultType: _type, _meta, ttlMs, cacheScope, ...rest } = modern;
  expect({ ttlMs, cacheScope }).toEqual({ ttlMs: 0, cacheScope: 'private' });
  expect(JSON.parse(await server.read('legacy')).result).toEqual(rest);
  expect(server.reads()).toBe(1);
});
