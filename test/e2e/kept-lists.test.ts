/** Kept answers to lists: when they are given again, and to whom. They are the same as new ones, only faster. */
import { readFile, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../src/core/context.ts';
import { filesProvider } from '../../src/providers/files/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { temporaryFolder } from './folders.ts';
import { ERAS } from './harness.ts';
import { serve, stopClock } from './kept-server.ts';

beforeEach(stopClock);
afterEach(() => vi.restoreAllMocks());

const ANNA: Principal = { id: 'anna', subject: 'anna' };
const BEN: Principal = { id: 'ben', subject: 'ben' };
const ROOT = { uri: 'm+memory:///' };

const namesIn = (answer: string): string[] =>
  JSON.parse(answer).result.resources.map(({ uri }: { readonly uri: string }) => uri.replace(/^.*\//, ''));
const cursorIn = (answer: string): string => JSON.parse(answer).result.nextCursor;

/** Removes fields that differ for each file and each server. */
const bare = (answer: string): string => answer.replace(/"(?:lastModified|nextCursor)":"[^"]*"/g, '');

describe.each(ERAS)('in the %s era', (era) => {
  it.each([
    ['the whole tree', {}, 'resources/list'],
    ['a folder', ROOT, 'resources/list'],
    ['a directory', ROOT, 'resources/directory/read'],
  ])('%s without changes is not listed again, and the answer is the same, byte for byte', async (_, params, method) => {
    await using fresh = serve({ limits: { keptBytes: 0 } });
    await using server = serve();
    const expected = await fresh.list(era, params, {}, method);
    const first = await server.list(era, params, {}, method);
    const lists = server.lists();
    expect(bare(first)).toBe(bare(expected));
    for (let count = 0; count < 3; count++) expect(await server.list(era, params, {}, method)).toBe(first);
    expect(server.lists()).toBe(lists);
    for (let count = 0; count < 3; count++) await fresh.list(era, params, {}, method);
    expect(fresh.lists()).toBe(4 * lists);
  });

  it('a changed folder is listed at once', async () => {
    await using server = serve();
    for (const params of [{}, ROOT]) await server.list(era, params);
    server.memory.set('c.md', { text: '# New' });
    for (const params of [{}, ROOT]) expect(namesIn(await server.list(era, params))).toContain('c.md');
    server.memory.delete('a.md');
    for (const params of [{}, ROOT]) expect(namesIn(await server.list(era, params))).not.toContain('a.md');
  });

  it('added and removed entries of a folder show at once', async () => {
    await using folder = await temporaryFolder({ 'docs/a.md': 'a', 'docs/b.md': 'b' });
    await using server = serve({ mounts: [{ name: 'm', provider: await filesProvider({ path: folder.path }) }] });
    const list = async (uri?: string): Promise<string[]> => namesIn(await server.list(era, { uri }));
    const uris = [undefined, 'm+file:///docs'];
    for (const name of ['c.md', 'd.md']) {
      for (let times = 0; times < 4; times++) for (const uri of uris) await list(uri);
      await folder.write(`docs/${name}`, 'new');
      for (const uri of uris) expect(await list(uri)).toContain(name);
      for (let times = 0; times < 4; times++) for (const uri of uris) await list(uri);
      await rm(folder.at(`docs/${name}`));
      for (const uri of uris) expect(await list(uri)).not.toContain(name);
    }
  });

  it('each caller has the entries that the rules allow, and each list has its lines in the audit', async () => {
    const linesOf = async (keptBytes: number): Promise<string[]> => {
      await using folder = await temporaryFolder({});
      const file = folder.at('audit.jsonl');
      {
        await using server = serve({
          audit: { file },
          limits: { keptBytes },
          access: {
            rules: [
              { effect: 'hide', who: { subjects: ['ben'] }, uris: ['m+memory:///a.md'] },
              { effect: 'deny', who: { subjects: ['anna'] }, operations: ['subscribe'], uris: ['m+memory:///b.md'] },
              { effect: 'allow' },
            ],
          },
        });
        for (const params of [{}, ROOT])
          for (const principal of [ANNA, ANNA, BEN, ANNA, BEN, BEN]) {
            const answer = await server.list(era, params, { principal });
            expect(namesIn(answer).includes('a.md')).toBe(principal === ANNA);
            const { resources } = JSON.parse(answer).result;
            const b = resources.find(({ name }: { readonly name: string }) => name === 'b.md');
            expect(b.capabilities.subscribe).toBe(principal === BEN);
          }
      }
      return (await readFile(file, 'utf8'))
        .split('\n')
        .filter((line) => line.includes('"method":"list"'))
        .map((line) => line.replace(/"(?:seq|ms)":[^,]*,|"(?:prev|time|requestId|hash|peer)":"[^"]*",?/g, ''));
    };
    const lines = await linesOf(1_000_000);
    expect(lines.length).toBeGreaterThan(12);
    expect(lines).toEqual(await linesOf(0));
  });

  it('the cursor in a kept page belongs to its caller, and leads on', async () => {
    await using server = serve({ limits: { pageSize: 1 } });
    const [, anna] = [
      await server.list(era, ROOT, { principal: ANNA }),
      await server.list(era, ROOT, { principal: ANNA }),
    ];
    const [, ben] = [
      await server.list(era, ROOT, { principal: BEN }),
      await server.list(era, ROOT, { principal: BEN }),
    ];
    const next = (cursor: string, principal: Principal) => server.list(era, { ...ROOT, cursor }, { principal });
    expect(namesIn(anna)).toEqual(['a.md']);
    expect(namesIn(await next(cursorIn(anna), ANNA))).toEqual(['b.md']);
    expect(namesIn(await next(cursorIn(ben), BEN))).toEqual(['b.md']);
    expect(JSON.parse(await next(cursorIn(anna), BEN)).error.message).toMatch(/cursor/i);
    expect(namesIn(await server.list(era, ROOT, { principal: ANNA }))).toEqual(['a.md']);
  });

  it('a list over several mounts is made each time if one of them does not support kept pages', async () => {
    const { listAgain: _, ...mute } = memoryProvider({ scheme: 'mute', resources: { 'm.md': { text: 'm' } } });
    const asked = { ...mute };
    let lists = 0;
    const list: typeof asked.list = (uri, page, ctx) => {
      lists++;
      return mute.list(uri, page, ctx);
    };
    const other = memoryProvider({ resources: { 'o.md': { text: 'o' } } });
    await using server = serve({
      mounts: [
        { name: 'm', provider: other },
        { name: 'mute', provider: { ...asked, list } },
      ],
    });
    await server.list(era);
    const once = lists;
    await server.list(era);
    expect(lists).toBe(2 * once);
  });

  it('a kept page is not used for another request with the same name', async () => {
    await using server = serve();
    for (let times = 0; times < 2; times++) await server.list(era, ROOT);
    const keys = ['resources/list', '["resources/list","anonymous","m+memory:///"]', ROOT.uri];
    for (const uri of keys.slice(0, 2)) expect(JSON.parse(await server.read(era, { uri })).error).toBeDefined();
    expect(JSON.parse(await server.read(era, { uri: ROOT.uri })).result.contents).toHaveLength(2);
  });

  it('a kept page counts as a request [SEC-RES-4]', async () => {
    await using server = serve({ limits: { rates: { anonymous: '5/h' } } });
    const answers: string[] = [];
    for (let turn = 0; turn < 8; turn++) answers.push(await server.list(era, ROOT));
    const refused = answers.filter((answer) => answer.includes('rates.anonymous')).length;
    expect(refused).toBeGreaterThan(2);
    expect(refused).toBeLessThan(6);
  });
});
