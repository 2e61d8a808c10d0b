import { describe, expect, it } from 'vitest';
import { checkLaw } from '../testing/check-law.ts';
import type { ProviderFixture } from '../testing/fixture.ts';
import { flatFixture } from '../testing/flat-fixture.ts';
import { memoryFixture } from '../testing/memory-fixture.ts';
import { PROVIDER_LAWS, providerContract } from '../testing/provider-contract.ts';
import { mountTree } from './mounts.ts';
import type { ResourceProvider } from './provider.ts';

const mounted = (provider: ResourceProvider): ResourceProvider => mountTree([{ name: 'docs', provider }]);
const published = (fixture: ProviderFixture): ProviderFixture => ({
  ...fixture,
  uriOf: (path) => `docs+${fixture.uriOf(path)}`,
});

providerContract('memory in a mount', (seed) => published(memoryFixture(seed, mounted)));

providerContract('memory in a mount without a prefix', (seed) =>
  memoryFixture(seed, (provider) => mountTree([{ name: 'docs', provider, prefix: 'none' }])),
);

providerContract('two mounts together', (seed) => {
  const fixtures = new Map([
    ['one', memoryFixture(seed)],
    ['two', memoryFixture(new Map([...seed].filter(([path]) => !path.startsWith('many/'))))],
  ]);
  const provider = mountTree([...fixtures].map(([name, fixture]) => ({ name, provider: fixture.provider })));
  const inside = <T>(path: string, run: (fixture: ProviderFixture, path: string, name: string) => T): T => {
    const [name = '', ...rest] = path.split('/');
    const fixture = fixtures.get(name);
    if (fixture === undefined) throw new Error(`There is no mount for ${path}`);
    return run(fixture, rest.join('/'), name);
  };
  return {
    provider,
    roots: [...fixtures.keys()],
    leaves: new Map(
      [...fixtures].flatMap(([name, { leaves }]) => [...leaves].map(([path, b]) => [`${name}/${path}`, b])),
    ),
    uriOf: (path) => inside(path, (fixture, rest, name) => `${name}+${fixture.uriOf(rest)}`),
    hierarchical: true,
    mutate: {
      create: (path, text) => inside(path, (fixture, rest) => fixture.mutate?.create(rest, text)),
      replace: (path, text) => inside(path, (fixture, rest) => fixture.mutate?.replace(rest, text)),
      remove: (path) => inside(path, (fixture, rest) => fixture.mutate?.remove(rest)),
    },
    close: async () => provider.close?.(),
  };
});

describe('a mount of opaque URIs keeps the provider contract, as far as it can be tested', () => {
  for (const law of PROVIDER_LAWS) {
    it(law.name, async () => {
      const held = await checkLaw(law, (seed) => published(flatFixture(seed, mounted)));
      const bare = await checkLaw(law, (seed) => flatFixture(seed));
      // Mounts search what a provider cannot search by itself.
      if (law.feature === 'search') expect(held).toEqual({ kind: 'held' });
      else expect(held).toEqual(bare);
    });
  }
});
