/** Replicas and workers that share the texts of documents over their bus, with a real Redis that goes away and comes back. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createClient } from '@redis/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SILENT } from '../../src/core/context.ts';
import { redisBus } from '../../src/serving/bus/redis/index.ts';
import { until } from '../e2e/waiting.ts';
import { redis, startRedis } from '../services/redis.ts';
import { describeWith } from '../services/service.ts';
import { LETTER, officeFolder, PLAIN, REPORT, REPORT_WORD, startAnswering } from './answering.ts';

const KEYS = [new Uint8Array(32).fill(1)];
const TEXTS = '{vitrine}:answers';

/** The whole content of a Redis, as it is stored. */
async function everythingIn(url: string): Promise<string> {
  const client = await createClient({ url }).connect();
  try {
    const texts = await client.hGetAll(TEXTS);
    const names = await client.zRange(`${TEXTS}:order`, 0, -1);
    const keys = await client.keys('*');
    // Leases come and go.
    const stored = keys.filter((key) => !key.startsWith('{vitrine}:lease:')).sort();
    expect(stored).toEqual([TEXTS, `${TEXTS}:order`, `${TEXTS}:ttl`]);
    expect(await client.pTTL(TEXTS)).toBeGreaterThan(0);
    const bytes = Object.values(texts).map((text) => Buffer.from(text, 'base64').toString('latin1'));
    return [...Object.entries(texts).flat(), ...keys, ...names, ...bytes].join('\n');
  } finally {
    await client.close();
  }
}

describeWith([redis])('replicas over one Redis', () => {
  it('convert a document once, store nothing readable, and work without Redis', async () => {
    await using server = await startRedis();
    await using folder = await officeFolder();
    const config = { keys: [randomBytes(32).toString('base64')], bus: server.url, answers: 'bus' };
    await using one = await startAnswering(folder, config);
    await using other = await startAnswering(folder, config);
    const conversions = () => Promise.all([one, other].map((each) => each.metric('vitrine_forms_conversions_total')));
    const report = await one.text(REPORT);
    expect(report).toContain(REPORT_WORD);
    await one.kept(1);
    expect(await other.text(REPORT)).toBe(report);
    expect(await conversions()).toEqual([1, 0]);
    expect(await everythingIn(server.url)).not.toMatch(PLAIN);

    await server.stop();
    for (const each of [one, other]) expect(await each.text(LETTER)).toContain('Tuesday');
    expect(await one.text(REPORT)).toBe(report);
    expect(await one.text('office+file:///visitors.xlsx')).toContain('|');
    expect(one.serving.errors().match(/shared answers cannot be read/g)).toHaveLength(1);
    expect(await one.metric('vitrine_answers_state', { vitrine_answers_state: 'away' })).toBe(1);

    await server.start();
    const documents = ['loan-agreement.docx', 'press-release.odt', 'tour.odp', 'visitors.ods', 'wound-by-hand.pptx'];
    await until(async () => (await fetch(`http://127.0.0.1:${one.serving.port}/readyz`)).ok, 'the server');
    // After its pause, the replica uses the store again.
    await until(async () => {
      const next = documents.shift();
      if (next !== undefined) await one.text(`office+file:///${next}`);
      else await folder.write('office/re-the-clock.eml', `Subject: ${randomBytes(8).toString('hex')}\n\nTuesday\n`);
      if (next === undefined) await one.text(LETTER);
      return (await one.metric('vitrine_answers_kept_total')) > 1;
    }, 'answers to be kept again');
    expect(one.serving.errors()).toContain('shared answers are read again');
  });

  it('store no more than allowed, remove the least recently used answers, and recover when Redis has forgotten some', async () => {
    await using server = await startRedis();
    const bus = await redisBus({ url: server.url, keys: KEYS, log: SILENT });
    const client = await createClient({ url: server.url }).connect();
    try {
      const room = { maxBytes: 10_000, ttlMs: 60_000 };
      const { memory } = bus;
      const names = Array.from({ length: 30 }, (_, number) => `name${10 + number}`);
      const keep = (name: string) => memory.keep(name, 'x'.repeat(1_000), room);
      for (const name of names.slice(0, 9)) await keep(name);
      await untilLater();
      expect(await memory.kept('name10')).toHaveLength(1_000);
      await untilLater();
      await keep('name19');
      expect(await memory.kept('name10')).toHaveLength(1_000);
      expect(await memory.kept('name11')).toBeUndefined();
      for (const name of names) await keep(name);
      // Storing the same answer again takes no more room.
      for (let each = 0; each < 9; each++) await keep('name39');
      const held = await client.hGetAll(TEXTS);
      expect(Object.keys(held).length - 1).toBe(9);
      expect(Number(held.bytes)).toBe(9 * 1_006);
      await memory.keep('large', 'x'.repeat(20_000), room);
      expect(await memory.kept('large')).toBeUndefined();
      expect(Number(await client.hGet(TEXTS, 'bytes'))).toBe(9 * 1_006);

      for (const name of names.slice(0, 5)) await keep(name);
      await client.del(`${TEXTS}:order`);
      expect(await memory.kept('name11')).toHaveLength(1_000);
      await keep('name17');
      expect(await memory.kept('name11')).toBeUndefined();
      expect(await memory.kept('name17')).toHaveLength(1_000);

      // An answer that nobody has used for its time is forgotten, and others are kept while they are used.
      await keep('used');
      await keep('unused');
      await client.zIncrBy(`${TEXTS}:order`, -room.ttlMs, 'unused');
      for (const key of [TEXTS, `${TEXTS}:order`, `${TEXTS}:ttl`]) await client.pExpire(key, 30_000);
      expect(await memory.kept('unused')).toBeUndefined();
      expect(await memory.kept('unused')).toBeUndefined();
      expect(await client.pTTL(TEXTS)).toBeLessThanOrEqual(30_000);
      expect(await memory.kept('used')).toHaveLength(1_000);
      for (const key of [TEXTS, `${TEXTS}:order`, `${TEXTS}:ttl`])
        expect(await client.pTTL(key)).toBeGreaterThan(30_000);
      await keep('unused');
      expect(await memory.kept('unused')).toHaveLength(1_000);

      await memory.keep('brief', 'text', { ...room, ttlMs: 50 });
      await until(async () => (await client.exists(TEXTS)) === 0, 'the end of what nobody used');
      expect(await memory.kept('brief')).toBeUndefined();
    } finally {
      await client.close();
      await bus.close();
    }
  });
});

describeWith([redis])('replicas whose clocks differ', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([-86_400_000, 3_600_000])(
    'remove the least recently used answers by the clock of Redis, with a difference of %i ms',
    async (ms) => {
      await using server = await startRedis();
      const bus = await redisBus({ url: server.url, keys: KEYS, log: SILENT });
      try {
        const { memory } = bus;
        const keep = (name: string) => memory.keep(name, 'x'.repeat(1_000), { maxBytes: 3_500, ttlMs: 60_000 });
        const here = Date.now;
        const byOtherClock = async (work: () => Promise<unknown>): Promise<unknown> => {
          const clock = vi.spyOn(Date, 'now').mockImplementation(() => here() + ms);
          try {
            return await work();
          } finally {
            clock.mockRestore();
            await untilLater();
          }
        };
        // By the other clock, both of its answers would be the least recently used if it is slow, and the most if it is fast.
        await byOtherClock(() => keep('used by the other first'));
        await keep('used here');
        await untilLater();
        await byOtherClock(() => keep('used by the other last'));
        expect(await memory.kept('used here')).toHaveLength(1_000);
        await untilLater();
        await byOtherClock(() => memory.kept('used by the other last'));
        await keep('new');
        const names = ['used by the other first', 'used here', 'used by the other last', 'new'];
        const held = await Promise.all(names.map(async (name) => (await memory.kept(name)) !== undefined));
        expect(held).toEqual([false, true, true, true]);
      } finally {
        await bus.close();
      }
    },
  );
});

/** Resolves in a later millisecond, because the time of the last use is kept in milliseconds. */
const untilLater = async (from = Date.now()): Promise<unknown> => until(() => Date.now() > from, 'a millisecond');

async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').map(Number);
}

describe('workers', () => {
  it('find the answers of a killed worker, which their parent keeps', async () => {
    await using folder = await officeFolder();
    await using workers = await startAnswering(folder, { answers: 'bus' }, ['--workers', '1']);
    const report = await workers.text(REPORT);
    await workers.kept(1);
    const { pid } = workers.serving;
    const [worker] = await childrenOf(pid);
    process.kill(worker ?? 0, 'SIGKILL');
    await until(async () => {
      const text = await workers.text(REPORT).catch(() => undefined);
      return text === report && (await workers.metric('vitrine_answers_kept_total')) === 0;
    }, 'another worker');
    expect(await workers.metric('vitrine_forms_conversions_total')).toBe(0);
    expect(await workers.metric('vitrine_answers_asked_total', { vitrine_answers_result: 'found' })).toBe(1);
  });
});
