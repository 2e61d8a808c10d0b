/** Checks whether a provider keeps one law. */
import type { MakeFixture } from './fixture.ts';
import type { ProviderLaw } from './law.ts';
import { ABSENCE } from './laws/absence.ts';
import { standardSeed } from './seed.ts';

/**
 * The outcome for a law that is not broken. `held`: tested. `absent`: the provider does not declare the feature, and does not have
 * it. `lacking`: the fixture lacks something that the test needs.
 */
export type Verdict =
  | { readonly kind: 'held' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'lacking'; readonly what: string };

/** Makes a provider, checks one law on it, and closes it. @throws the error of the law if it is broken */
export async function checkLaw(law: ProviderLaw, make: MakeFixture): Promise<Verdict> {
  const fixture = await make(standardSeed());
  try {
    if (law.feature !== undefined && !fixture.provider.features[law.feature]) {
      await ABSENCE[law.feature](fixture);
      return { kind: 'absent' };
    }
    const applies = law.applies?.(fixture) ?? true;
    if (applies !== true) return { kind: 'lacking', what: applies };
    await law.check(fixture);
    return { kind: 'held' };
  } finally {
    await fixture.close();
  }
}
