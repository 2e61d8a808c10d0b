/**
 * Several times more requests than the server may run at a time: it runs what it accepts, and refuses the rest before any work, while
 * accepted requests are running. `bench/overload.mjs` measures how long that takes.
 */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { wrapProvider } from '../../src/core/layer.ts';
import type { ResourceProvider } from '../../src/core/provider.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { type Ask, asker, type Outcome, type Person, serveWith } from '../security/usage.ts';

/** The limit of concurrent requests. */
const CAPACITY = 4;
/** How many times that number comes at once, and how often. */
const TIMES = 4;
const WAVES = 5;
const URI = 'memory:///note.txt';

/** Reads that wait at a door, and are counted. */
interface Work {
  readonly provider: ResourceProvider;
  readonly begun: number;
  readonly running: number;
  readonly most: number;
  /** Lets the waiting reads pass, and closes the door again. */
  letPass(): void;
}

function countedWork(): Work {
  const inner = memoryProvider({ resources: { 'note.txt': { text: 'hello' } } });
  const waiting = new Set<() => void>();
  let begun = 0;
  let running = 0;
  let most = 0;
  const provider = wrapProvider(inner, {
    async read(uri, want, ctx) {
      begun++;
      most = Math.max(most, ++running);
      try {
        await new Promise<void>((resolve) => waiting.add(resolve));
        return await inner.read(uri, want, ctx);
      } finally {
        running--;
      }
    },
  });
  return {
    provider,
    get begun() {
      return begun;
    },
    get running() {
      return running;
    },
    get most() {
      return most;
    },
    letPass() {
      for (const pass of waiting) pass();
      waiting.clear();
    },
  };
}

type Clients = readonly Ask[];

const clientsOf = (url: string, era: (typeof ERAS)[number], person: Person, count: number): Promise<Clients> =>
  Promise.all(Array.from({ length: count }, () => asker(url, era, person)));

/** Every client sends a request at the same time. Gives the outcomes as they come. */
function wave(clients: Clients): { readonly outcomes: readonly Outcome[]; readonly ended: Promise<unknown> } {
  const outcomes: Outcome[] = [];
  const asked = clients.map(async (ask) => void outcomes.push(await ask('resources/read', { uri: URI })));
  return { outcomes, ended: Promise.all(asked) };
}

const refusedOf = (outcomes: readonly Outcome[]): readonly Outcome[] =>
  outcomes.filter(({ error }) => error !== undefined);

function expectRefusal({ error, response }: Outcome, limit: string): void {
  expect(error?.data).toMatchObject({ reason: 'limited', retryable: true, limit });
  expect(error?.data?.retryAfterMs).toBeGreaterThan(0);
  expect(response.status).toBe(200);
  // An event stream begins before its outcome is known, so no header can tell it.
  if (String(response.headers['content-type']).includes('json'))
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
}

describe.each(ERAS)('a server at four times its capacity, %s', (era) => {
  const rates = { principal: 'off' };

  it('runs what it accepts, and refuses the rest meanwhile, before any work [SEC-TOOL-2]', async () => {
    await using folder = await temporaryFolder();
    const work = countedWork();
    const file = folder.at('audit.jsonl');
    const mounts = [{ name: 'memory', provider: work.provider, prefix: 'none' }] as const;
    await using on = await serveWith({ maxConcurrent: CAPACITY, rates }, { mounts, audit: { file } });
    const clients = await clientsOf(on.url, era, 'ann', CAPACITY * TIMES);
    for (let turn = 1; turn <= WAVES; turn++) {
      const { outcomes, ended } = wave(clients);
      // All refused requests are answered before any of the others has made progress.
      await until(() => outcomes.length === CAPACITY * (TIMES - 1), 'the refusals');
      expect(refusedOf(outcomes)).toHaveLength(CAPACITY * (TIMES - 1));
      for (const refused of outcomes) expectRefusal(refused, 'maxConcurrent');
      expect([work.running, work.begun]).toEqual([CAPACITY, CAPACITY * turn]);
      work.letPass();
      await ended;
      expect(refusedOf(outcomes)).toHaveLength(CAPACITY * (TIMES - 1));
      expect(work.running).toBe(0);
    }
    expect(work.most).toBe(CAPACITY);
    await until(async () => {
      const lines = (await readFile(file, 'utf8')).split('\n');
      return lines.filter((line) => line.includes('"outcome":"limited"')).length === CAPACITY * (TIMES - 1) * WAVES;
    }, 'a line of each refusal');
  });

  it('leaves each principal its share, whatever another one requests [SEC-RES-4]', async () => {
    const work = countedWork();
    const mounts = [{ name: 'memory', provider: work.provider, prefix: 'none' }] as const;
    await using on = await serveWith({ maxConcurrentPerPrincipal: CAPACITY, rates }, { mounts });
    const ann = wave(await clientsOf(on.url, era, 'ann', CAPACITY * TIMES));
    await until(() => ann.outcomes.length === CAPACITY * (TIMES - 1), 'the refusals');
    for (const refused of ann.outcomes) expectRefusal(refused, 'maxConcurrentPerPrincipal');
    const bob = wave(await clientsOf(on.url, era, 'bob', CAPACITY));
    await until(() => work.running === CAPACITY * 2, 'the work of both');
    work.letPass();
    await Promise.all([ann.ended, bob.ended]);
    expect(refusedOf(bob.outcomes)).toEqual([]);
    expect([work.begun, work.running]).toEqual([CAPACITY * 2, 0]);
  });
});
