/** Hidden and missing resources are answered at the same ticks, so that their time does not distinguish them (SEC-RES-2). */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { filesProvider } from '../../src/providers/files/index.ts';
import { sqlProvider } from '../../src/providers/sql/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { type Folder, temporaryFolder } from '../e2e/folders.ts';
import { ERAS } from '../e2e/harness.ts';
import { type Ask, askerOf } from './access/asking.ts';

/** Ticks that come when the test says so, without a clock. */
const ticks = vi.hoisted(() => ({ waiting: [] as (() => void)[], came: (): void => {} }));
vi.mock('../../src/layers/access/together.ts', () => ({
  nextTick: () =>
    new Promise<void>((resolve) => {
      ticks.waiting.push(resolve);
      ticks.came();
    }),
}));

/** Returns how many ticks an answer waits for. */
async function ticksOf(asked: ReturnType<Ask>): Promise<number> {
  let answered = false;
  const answer = asked.finally(() => {
    answered = true;
  });
  for (let count = 0; ; count++) {
    const came = new Promise<void>((resolve) => {
      ticks.came = resolve;
    });
    if (ticks.waiting.length === 0) await Promise.race([answer, came]);
    if (answered) return count;
    for (const resolve of ticks.waiting.splice(0)) resolve();
  }
}

let folder: Folder;
let vitrine: Vitrine;
let http: HttpServing;
beforeAll(async () => {
  folder = await temporaryFolder({ 'docs/drafts/new.md': 'x', 'docs/drafts/deep/a.md': 'x', 'docs/open.md': 'open' });
  const file = join(folder.path, 'shop.sqlite');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE people (id INTEGER PRIMARY KEY); INSERT INTO people VALUES (1), (2)');
  database.close();
  vitrine = createVitrine({
    mounts: [
      { name: 'docs', provider: await filesProvider({ path: join(folder.path, 'docs') }) },
      { name: 'shop', provider: await sqlProvider({ sql: file }) },
    ],
    access: {
      rules: [
        { effect: 'hide', uris: ['docs+file:///drafts/**', 'shop+sqlite:///people/2/**'] },
        { effect: 'hide', tools: ['search'] },
      ],
      default: 'allow',
    },
  });
  http = await serveHttp(vitrine, { port: 0 });
});
afterAll(async () => {
  await http.close();
  await vitrine.close();
  await folder[Symbol.asyncDispose]();
});

describe.each(ERAS)('to a client of the %s era', (era) => {
  let ask: Ask;
  beforeAll(async () => {
    ask = await askerOf(http.url, era, undefined);
  });

  describe.each([
    ['a file', 'docs+file:///drafts/new.md', 'docs+file:///drafts/nix.md'],
    ['a folder', 'docs+file:///drafts/deep', 'docs+file:///drafts/none'],
    ['a row', 'shop+sqlite:///people/2', 'shop+sqlite:///people/3'],
  ])('%s', (_what, hidden, missing) => {
    it.each(['resources/read', 'resources/metadata', 'resources/list'])(
      'gets its answer from %s at the same tick, hidden or missing',
      async (method) => {
        const waited = await ticksOf(ask(method, { uri: hidden }));
        expect(waited).toBeGreaterThan(0);
        expect(await ticksOf(ask(method, { uri: missing }))).toBe(waited);
      },
    );

    it.each(['read', 'list'])('gets its answer from the tool %s at the same tick, hidden or missing', async (name) => {
      const waited = await ticksOf(ask('tools/call', { name, arguments: { uri: hidden } }));
      expect(waited).toBeGreaterThan(0);
      expect(await ticksOf(ask('tools/call', { name, arguments: { uri: missing } }))).toBe(waited);
    });
  });

  it('a tool gets its answer at the same tick, hidden or missing', async () => {
    const waited = await ticksOf(ask('tools/call', { name: 'search', arguments: {} }));
    expect(waited).toBeGreaterThan(0);
    expect(await ticksOf(ask('tools/call', { name: 'serach', arguments: {} }))).toBe(waited);
  });

  it('a visible resource waits for no tick', async () => {
    expect(await ticksOf(ask('resources/read', { uri: 'docs+file:///open.md' }))).toBe(0);
    expect(await ticksOf(ask('resources/read', { uri: 'shop+sqlite:///people/1' }))).toBe(0);
  });
});
