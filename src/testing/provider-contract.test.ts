import { describe, expect, it } from 'vitest';
import { wrapProvider } from '../core/layer.ts';
import type { SearchMatch } from '../core/provider.ts';
import { BROKEN_AGAIN } from './broken/again.ts';
import { BROKEN_LIFETIMES } from './broken/lifetime.ts';
import { BROKEN_LISTS } from './broken/listing.ts';
import { BROKEN_NAMES } from './broken/naming.ts';
import { BROKEN_READS } from './broken/reading.ts';
import { BROKEN_TEMPLATES } from './broken/templates.ts';
import { BROKEN_WATCHES } from './broken/watching.ts';
import { checkLaw } from './check-law.ts';
import type { MakeFixture } from './fixture.ts';
import { flatFixture } from './flat-fixture.ts';
import type { ProviderLaw } from './law.ts';
import { memoryFixture } from './memory-fixture.ts';
import { listAll } from './observe.ts';
import { PROVIDER_LAWS } from './provider-contract.ts';

const BROKEN = [
  ...BROKEN_LISTS,
  ...BROKEN_READS,
  ...BROKEN_AGAIN,
  ...BROKEN_NAMES,
  ...BROKEN_WATCHES,
  ...BROKEN_TEMPLATES,
  ...BROKEN_LIFETIMES,
];

function lawOf(beginning: string): ProviderLaw {
  const laws = PROVIDER_LAWS.filter((law) => law.name.startsWith(beginning));
  const [law] = laws;
  if (law === undefined || laws.length > 1) throw new Error(`${laws.length} laws begin with "${beginning}"`);
  return law;
}

describe('the provider contract fails a provider that', () => {
  for (const { defect, law, says, break: breakIt } of BROKEN) {
    it(defect, async () => {
      const make: MakeFixture = (seed) => ({ ...memoryFixture(seed, breakIt), patienceMs: 50 });
      await expect(checkLaw(lawOf(law), make)).rejects.toThrow(says);
    });
  }

  it('breaks any law: a provider here breaks each law', () => {
    const unbroken = PROVIDER_LAWS.filter(({ name }) => !BROKEN.some(({ law }) => name.startsWith(law)));
    expect(unbroken.map(({ name }) => name)).toEqual([]);
  });
});

describe('a law', () => {
  const law = (parts: Partial<ProviderLaw>): ProviderLaw => ({ name: 'a law', check: async () => {}, ...parts });

  it('says what the fixture lacks for the test', async () => {
    const verdict = await checkLaw(lawOf('one watch reports'), (seed) => {
      const { mutate: _, ...fixture } = memoryFixture(seed);
      return fixture;
    });
    expect(verdict).toEqual({ kind: 'lacking', what: expect.stringContaining('mutate') });
  });

  it('of a feature that is not declared checks that the feature is absent', async () => {
    const verdict = await checkLaw(
      law({ feature: 'search', check: () => Promise.reject(new Error('not here')) }),
      memoryFixture,
    );
    expect(verdict).toEqual({ kind: 'absent' });
  });

  it('is kept by a provider without a tree, as far as it can be tested', async () => {
    const lacking: string[] = [];
    const absent = new Set<string | undefined>();
    for (const each of PROVIDER_LAWS) {
      const verdict = await checkLaw(each, (seed) => flatFixture(seed));
      if (verdict.kind === 'lacking') lacking.push(each.name.split(' ').slice(0, 6).join(' '));
      if (verdict.kind === 'absent') absent.add(each.feature);
    }
    expect([...absent]).toEqual(['ranges', 'watch', 'search']);
    expect(lacking).toEqual([
      'entries that come and go between',
      'a read of a container gives',
      'a read of a container stays',
      '`again` says no once a leaf',
      'a version is of one content:',
      '`listAgain` says no once an entry',
      'an escape is decoded once: a',
      'a slash at the end is',
      'a slash at the end of',
    ]);
  });

  it('closes the fixture, whether the law is kept or broken', async () => {
    let closed = 0;
    const make: MakeFixture = (seed) => ({
      ...memoryFixture(seed),
      close: async () => void closed++,
    });
    await checkLaw(law({}), make);
    await expect(checkLaw(law({ check: () => Promise.reject(new Error('broken')) }), make)).rejects.toThrow('broken');
    expect(closed).toBe(2);
  });

  it('of search is kept by a provider with search', async () => {
    const verdict = await checkLaw(lawOf('a search for the first line'), (seed) =>
      memoryFixture(seed, (inner) => ({
        ...wrapProvider(inner, { features: { ...inner.features, search: true } }),
        async *search(): AsyncIterable<SearchMatch> {
          for (const { uri } of await listAll(inner, 'memory:///')) {
            if (uri.endsWith('readme.md')) yield { uri, place: { line: 1, offset: 0 } };
          }
        },
      })),
    );
    expect(verdict).toEqual({ kind: 'held' });
  });
});
