/** The contract of providers: tests for any provider, of everything that frontends, layers and mounts rely on. */
import { describe, it } from 'vitest';
import { checkLaw } from './check-law.ts';
import type { MakeFixture } from './fixture.ts';
import type { ProviderLaw } from './law.ts';
import { againLaws } from './laws/again.ts';
import { lifetimeLaws } from './laws/lifetime.ts';
import { listAgainLaws } from './laws/list-again.ts';
import { listingLaws } from './laws/listing.ts';
import { namingLaws } from './laws/naming.ts';
import { readingLaws } from './laws/reading.ts';
import { templateLaws } from './laws/templates.ts';
import { versionLaws } from './laws/versions.ts';
import { watchingLaws } from './laws/watching.ts';
import { windowLaws } from './laws/windows.ts';

/** All laws. To run them without vitest, use `checkLaw`. */
export const PROVIDER_LAWS: readonly ProviderLaw[] = [
  ...listingLaws,
  ...readingLaws,
  ...againLaws,
  ...versionLaws,
  ...listAgainLaws,
  ...windowLaws,
  ...namingLaws,
  ...watchingLaws,
  ...templateLaws,
  ...lifetimeLaws,
];

/**
 * Registers a vitest suite that holds a provider to every law. It calls `make` for each law, and closes the fixture after it. If the
 * provider declares that it lacks a feature, its tests check instead that the feature is really absent. If the fixture lacks
 * something that a law needs, the test is skipped, and says what is lacking.
 *
 * @example
 * providerContract('memory', (seed) => {
 *   const resources = Object.fromEntries([...seed].map(([path, bytes]) => [path, { bytes }]));
 *   const provider = memoryProvider({ resources });
 *   return {
 *     provider,
 *     leaves: seed,
 *     uriOf: (path) => treeUri('memory', path === '' ? [] : path.split('/')),
 *     hierarchical: true,
 *     close: async () => provider.close?.(),
 *   };
 * });
 */
export function providerContract(name: string, make: MakeFixture): void {
  describe(`${name}: the provider contract`, () => {
    for (const law of PROVIDER_LAWS) {
      it(law.name, async ({ skip }) => {
        const verdict = await checkLaw(law, make);
        if (verdict.kind === 'lacking') skip(verdict.what);
      });
    }
  });
}
