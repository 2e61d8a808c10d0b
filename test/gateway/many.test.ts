/** Many servers with long lists behind one gateway. It pages through the lists without collecting them, while entries come and go. */
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../e2e/folders.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { drained, type Memory, mean, type Plan, type Plans, pages, quarter, withFleet } from './many/fleet.ts';

/** All ways in which servers give lists, in one era. */
const WAYS: readonly Omit<Plan, 'era'>[] = [
  { by: 'name', size: 50 },
  { by: 'name', size: 100, uris: 'opaque' },
  { by: 'name', size: 1_000 },
  { by: 'name', size: 1_000_000 },
  { by: 'offset', size: 100 },
  { by: 'offset', size: 1_000, uris: 'opaque' },
  { by: 'name', size: 1_000_000, tells: true, uris: 'opaque' },
  { by: 'name', size: 100, ttlMs: 60_000 },
  { by: 'name', size: 1_000, tells: true },
  { by: 'name', size: 500 },
];

const NAMED = 300;
const STAYING = 4_500;
const PAGE_SIZE = 500;

/** The fields that each resource has. */
const FIELDS = ['uri', 'name', 'title', 'description', 'mimeType', 'size', 'annotations', 'icons', '_meta'];

/** Twenty servers: each way to give lists, in each era. */
const MANY: Plans = Object.fromEntries(
  WAYS.flatMap((way, index) => ERAS.map((era): [string, Plan] => [`${era}-${index}`, { ...way, era, named: NAMED }])),
);

/**
 * The most that a gateway may grow in the second half of the list, in MiB. One that keeps the entries grows by more than 30 of held
 * memory, and by more than 50 of resident memory.
 */
const MOST_GROWTH: Memory = { held: 16, resident: 40 };

/** The number of pages between two measurements of memory. */
const SAMPLE_EVERY = 10;

const meanOf = (samples: readonly Memory[]): Memory => ({
  held: mean(samples.map(({ held }) => held)),
  resident: mean(samples.map(({ resident }) => resident)),
});

describe.each(ERAS)('twenty servers with 5,000 resources each, for a client of the %s era', (era) => {
  it('[CB-1] [RES-6] are paged through without being collected, while resources come and go', async () => {
    await withFleet(MANY, { era, limits: { pageSize: PAGE_SIZE } }, async (on, fleet, gateway) => {
      const seen = new Map<string, number>();
      const memory: Memory[] = [];
      let count = 0;
      for await (const { items, missing } of pages(on, 'resources/list')) {
        expect(items.length).toBeLessThanOrEqual(PAGE_SIZE);
        expect(missing).toEqual([]);
        expect(items.filter((each) => !FIELDS.every((field) => field in each))).toEqual([]);
        for (const { uri = '' } of items) seen.set(uri, (seen.get(uri) ?? 0) + 1);
        if (++count % SAMPLE_EVERY === 0) memory.push(await gateway.memory());
        await fleet.change();
      }
      expect([...seen].filter(([, times]) => times > 1)).toEqual([]);
      for (const name of Object.keys(MANY)) {
        const staying = [...seen.keys()].filter((uri) => uri.startsWith(`${name}+`) && uri.includes('-stay'));
        expect(staying.length, name).toBe(STAYING);
      }
      const [early, late] = [meanOf(quarter(memory, 2)), meanOf(quarter(memory, 4))];
      console.log(`${seen.size} resources on ${count} pages; MiB: ${JSON.stringify({ early, late })}`);
      expect(late.held - early.held).toBeLessThan(MOST_GROWTH.held);
      expect(late.resident - early.resident).toBeLessThan(MOST_GROWTH.resident);
    });
  }, 180_000);
});

describe.each(ERAS)('behind a gateway for a client of the %s era', (era) => {
  const plans: Plans = Object.fromEntries(Object.entries(MANY).map(([name, plan]) => [name, { ...plan, count: 7 }]));
  const names = Array.from({ length: NAMED }, (_, index) => `n${String(index).padStart(3, '0')}`);
  const published = (publish: (mount: string, name: string) => string): readonly string[] =>
    Object.keys(plans).flatMap((mount) => names.map((name) => publish(mount, name)));

  it('[CB-1] lists of twenty servers have every tool, prompt and template of each server once, in pages', async () => {
    await withFleet(plans, { era }, async (on) => {
      const tools = await drained(on, 'tools/list');
      expect(tools.items.map(({ name }) => name)).toEqual(published((mount, name) => `${mount}_${name}`));
      const prompts = await drained(on, 'prompts/list');
      expect(prompts.items.map(({ name }) => name)).toEqual(published((mount, name) => `${mount}_${name}`));
      const templates = await drained(on, 'resources/templates/list');
      expect(templates.items.map(({ uriTemplate }) => uriTemplate)).toEqual(
        published((mount, name) => `${mount}+urn:part:${name}/{shelf}`),
      );
      expect([...tools.missing, ...prompts.missing, ...templates.missing]).toEqual([]);
    });
  });

  it('[2093-2] metadata of an entry on the last page comes from the list, if the server has no method for metadata', async () => {
    const long: Plans = {
      named: { era: 'legacy', by: 'name', size: 100 },
      counted: { era: 'modern', by: 'offset', size: 1_000, uris: 'opaque' },
    };
    await withFleet(long, { era }, async (on, fleet) => {
      const uri = 'named+https://named.example/parts/04999-stay?view=all#top';
      const { resource } = await on.request<{ resource: object }>('resources/metadata', { uri });
      expect(resource).toMatchObject({
        uri,
        size: 4_999,
        annotations: { audience: ['user'], priority: 0.5 },
        _meta: { 'example.com/tags': ['part', 'named'] },
      });
      const opaque = await on.request('resources/metadata', { uri: 'counted+urn:part:04999-stay' });
      expect(opaque).toMatchObject({
        resource: { uri: 'counted+urn:part:04999-stay', title: 'Part 04999-stay of counted' },
      });
      // The gateway does not ask again for known metadata.
      const asked = await fleet.asked('named', 'resources/list');
      await on.request('resources/metadata', { uri: 'named+https://named.example/parts/00000-stay?view=all#top' });
      expect(await fleet.asked('named', 'resources/list')).toBe(asked);
    });
  });
});

// Each test has its own processes, which wait most of the time.
describe.concurrent('a server among others', () => {
  const era: Era = 'modern';
  /** Servers with short lists, so that the time goes to those that fail. */
  const FEW: Omit<Plan, 'era'> = { by: 'name', size: 30, count: 100 };
  const among = (failing: Partial<Plan>): Plans => ({
    before: { ...FEW, era: 'legacy' },
    legacy: { ...FEW, era: 'legacy', ...failing },
    modern: { ...FEW, era: 'modern', ...failing },
    behind: { ...FEW, era: 'modern' },
  });
  /** The number of entries of each mount, in the order of the mounts. */
  const counts = (items: readonly { readonly uri?: string }[]): Readonly<Record<string, number>> => {
    const found: Record<string, number> = {};
    for (const { uri = '' } of items) found[uri.split('+', 1)[0] ?? ''] = (found[uri.split('+', 1)[0] ?? ''] ?? 0) + 1;
    return found;
  };

  /** Runs with a fleet whose failing servers have two seconds for an answer. */
  const impatient = (plans: Plans, run: Parameters<typeof withFleet>[2]): Promise<unknown> => {
    const hurried = { timeoutSeconds: 2 };
    return withFleet(plans, { era, options: { legacy: hurried, modern: hurried } }, run);
  };

  it('[CB-1] that hangs is named as missing, and the others are listed before that', async () => {
    await impatient(among({ hangs: 'lists' }), async (on) => {
      const seen: { uri?: string }[] = [];
      const missing: (string | undefined)[] = [];
      for await (const page of pages(on, 'resources/list')) {
        if (page.missing.length > 0) expect(counts(seen)).toEqual({ before: 100, behind: 100 });
        seen.push(...page.items);
        missing.push(...page.missing.map(({ mount }) => mount));
      }
      expect(counts(seen)).toEqual({ before: 100, behind: 100 });
      expect(missing).toEqual(['legacy', 'modern']);
    });
  });

  it('[CB-1] that hangs in the middle of its list is named as missing from there on', async () => {
    await impatient(among({ hangs: 'second page' }), async (on) => {
      const { items, missing } = await drained(on, 'resources/list');
      expect(counts(items)).toEqual({ before: 100, legacy: 30, modern: 30, behind: 100 });
      expect(missing.map(({ mount }) => mount)).toEqual(['legacy', 'modern']);
    });
  });

  it('[CB-1] whose cursors repeat is listed up to the repetition, and the answer says so', async () => {
    await withFleet(among({ by: 'offset', loops: true }), { era }, async (on) => {
      // On a busy machine, a list may leave out a server because it is slow.
      const { items, missing } = await until(async () => {
        const list = await drained(on, 'resources/list');
        return list.missing.every(({ reason }) => reason.includes('repeats a cursor')) && list;
      }, 'a list that ends where cursors repeat');
      const { legacy = 0, modern = 0, ...others } = counts(items);
      expect(others).toEqual({ before: 100, behind: 100 });
      expect(legacy).toBeGreaterThanOrEqual(100);
      expect(modern).toBe(legacy);
      expect(missing.map(({ mount }) => mount)).toEqual(['legacy', 'modern']);
    });
  });

  it('[CB-1] is not cut by the limit for folders beside it, whatever the order of mounts', async () => {
    await using folder = await temporaryFolder({ 'file.txt': 'text' });
    const [first, second] = [{ first: folder.path }, { second: folder.path }];
    const config = { era, listing: { maxResources: 1 }, limits: { pageSize: 30 } };
    const plans = { legacy: { ...FEW, era: 'legacy' }, modern: { ...FEW, era: 'modern' } } as const;
    for (const [before, behind] of [
      [first, second],
      [{ ...first, ...second }, {}],
    ]) {
      await withFleet(plans, { ...config, before, behind }, async (on) => {
        const { items, truncatedBy } = await drained(on, 'resources/list');
        expect(counts(items)).toEqual({ first: 1, legacy: 100, modern: 100 });
        expect(truncatedBy).toBe('maxResources');
      });
    }
  });

  it('[CB-1] is listed once, and not again for each level of a folder beside it', async () => {
    const levels = Array.from({ length: 6 }, (_, level) => `${'d/'.repeat(level)}file.txt`);
    await using folder = await temporaryFolder(Object.fromEntries(levels.map((name) => [name, 'text'])));
    const plans = { legacy: { ...FEW, era: 'legacy' }, modern: { ...FEW, era: 'modern' } } as const;
    await withFleet(plans, { era, behind: { folder: folder.path }, limits: { pageSize: 20 } }, async (on, fleet) => {
      const { items } = await drained(on, 'resources/list');
      expect(counts(items)).toEqual({ legacy: 100, modern: 100, folder: 12 });
      // The list of each server has four pages. The gateway may request the last one again if it ends where a page of the gateway
      // ends, and all of them if the walk takes longer than they are fresh.
      for (const name of Object.keys(plans)) {
        expect(await fleet.asked(name, 'resources/list'), name).toBeLessThan(2 * 5);
      }
    });
  });
});
