import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { textBytes } from '../core/body.ts';
import { createContext, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { Operations } from '../core/operations.ts';
import type { Resource } from '../protocol/resources.ts';
import { type Crawler, createCrawler } from './crawler.ts';
import type { Entry, IndexStore } from './index-store.ts';
import { SqlFault } from './thread.ts';

const LONG = `${'clock '.repeat(200)}\n`.repeat(900);

interface Scene {
  readonly crawler: Crawler;
  /** The names of the resources that were put. */
  readonly names: string[];
  readonly said: string[];
}

/** A crawler of folders with resources, by their names. The resources of '' are at the top. */
function crawling(
  folders: Readonly<Record<string, readonly string[]>>,
  read: (name: string) => Promise<string>,
  put: (entries: readonly Entry[]) => Promise<void>,
): Scene {
  const names: string[] = [];
  const said: string[] = [];
  const uriOf = (name: string): string => `m+memory:///${name}`;
  const resourceOf = (name: string): Resource => ({
    ...{ uri: uriOf(name), name, mimeType: 'text/plain' },
    ...(name in folders && { mimeType: 'inode/directory', capabilities: { list: true, subscribe: false } }),
  });
  const provider: Pick<Operations, 'list' | 'metadata' | 'read'> = {
    list: async (uri = uriOf('')) => ({ resources: (folders[uri.slice(uriOf('').length)] ?? []).map(resourceOf) }),
    metadata: async (uri) => resourceOf(uri.slice(uriOf('').length)),
    async read(uri) {
      const name = uri.slice(uriOf('').length);
      return [{ resource: resourceOf(name), content: textBytes(await read(name)) }];
    },
  };
  const store: Pick<IndexStore, 'room' | 'known' | 'childrenOf' | 'put' | 'remove'> = {
    room: 1e12,
    known: async () => new Map(),
    childrenOf: async () => [],
    async put(entries) {
      await put(entries);
      names.push(...entries.map(({ name }) => name));
    },
    async remove() {},
  };
  const log = { ...SILENT, info: (_: string, facts?: object) => void said.push(JSON.stringify(facts)) };
  const crawler = createCrawler({
    ...{ provider: provider as Operations, store: store as IndexStore, mountOf: () => 'm', mounts: () => ['m'] },
    ...{ kindOf: () => '', found() {}, lost() {}, missed() {}, ctx: createContext({ log }) },
  });
  return { crawler, names, said };
}

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await null;
}

const invalid = (): ResourceError => new ResourceError('invalid', 'A number is too high');

describe('the crawler of an index', () => {
  it('writes full batches one after the other, and throws the error of a write', async () => {
    const orders = Array.from({ length: 36 }, (_, at) => [0, at % 6, Math.floor(at / 6), 0]);
    for (const order of orders) {
      let atOnce = 0;
      let most = 0;
      let puts = 0;
      const crawl = (failing: number): Scene =>
        crawling(
          { '': ['a', 'b', 'c', 'd'] },
          async (name) => {
            await ticks(order['abcd'.indexOf(name)] ?? 0);
            return LONG;
          },
          async () => {
            most = Math.max(most, ++atOnce);
            puts++;
            const fails = puts === failing;
            await pause(1);
            atOnce--;
            if (fails) throw new SqlFault('full', 'The disk is full');
          },
        );
      const good = crawl(0);
      good.crawler.again();
      await good.crawler.work();
      expect(good.names.sort()).toEqual(['a', 'b', 'c', 'd']);
      expect(most, String(order)).toBe(1);
      puts = 0;
      const bad = crawl(1);
      bad.crawler.again();
      await expect(bad.crawler.work(), String(order)).rejects.toThrow('The disk is full');
    }
  });

  it('does nothing more after a failure', async () => {
    let reads = 0;
    let puts = 0;
    const { crawler } = crawling(
      { '': ['a', 'b', 'c', 'd', 'e', 'f'] },
      async (name) => {
        if (name === 'f') await pause(50);
        reads++;
        return LONG;
      },
      async () => {
        if (++puts === 1) throw new SqlFault('full', 'The disk is full');
      },
    );
    crawler.again();
    await expect(crawler.work()).rejects.toThrow('The disk is full');
    const [readsThen, putsThen] = [reads, puts];
    await pause(100);
    expect([reads, puts]).toEqual([readsThen, putsThen]);
  });

  it('leaves out only the resource that the database refuses', async () => {
    const { crawler, names, said } = crawling(
      { '': ['a', 'bad', 'b', 'f', 'g'], f: ['c', 'worse', 'd'], g: ['e'] },
      async () => 'clock',
      async (entries) => {
        if (entries.some(({ name }) => name === 'bad' || name === 'worse')) throw invalid();
      },
    );
    crawler.again();
    await crawler.work();
    expect(names.sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    expect(said).toHaveLength(2);
    expect(said.join()).toContain('m+memory:///bad');
    expect(said.join()).toContain('m+memory:///worse');
  });

  it('goes on after a batch that took too long, and tries it again', async () => {
    let puts = 0;
    const { crawler, names, said } = crawling(
      { '': ['a', 'f', 'b'], f: ['c', 'd'] },
      async () => LONG,
      async () => {
        if (++puts === 1) throw new ResourceError('timeout', 'It takes too long');
      },
    );
    crawler.again();
    await crawler.work();
    expect(names).toContain('d');
    expect(said).toHaveLength(1);
    crawler.again();
    await crawler.work();
    expect([...new Set(names)].sort()).toEqual(['a', 'b', 'c', 'd', 'f']);
  });
});
