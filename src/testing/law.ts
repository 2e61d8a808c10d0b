/** A law of the provider contract as data, so that any test runner, or a test of the law itself, can hold one to it. */
import type { ProviderFeatures } from '../core/provider.ts';
import type { MakeFixture, ProviderFixture } from './fixture.ts';
import { ABSENCE } from './laws/absence.ts';
import { standardSeed } from './seed.ts';

/** A feature that a provider may do without. */
export type OptionalFeature = Extract<
  keyof ProviderFeatures,
  'watch' | 'templates' | 'completion' | 'search' | 'ranges'
>;

export interface ProviderLaw {
  /** What holds, as a sentence. */
  readonly name: string;
  /** The feature that it is about. A provider whose flag is false has to be without it in fact. */
  readonly feature?: OptionalFeature;
  /** True, or what the fixture lacks to be held to this law. */
  readonly applies?: (fixture: ProviderFixture) => true | string;
  /** Throws when the law is broken. */
  readonly check: (fixture: ProviderFixture) => Promise<void>;
}

/** `held`: tested and true. `absent`: the flag is false, and so is the feature. `lacking`: it could not be tested. */
export type Verdict =
  | { readonly kind: 'held' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'lacking'; readonly what: string };

/**
 * Makes a provider, holds it to one law, and closes it.
 * @throws whatever the law throws when it is broken
 */
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

/** For `applies`: the data can be changed. */
export const canChange = (fixture: ProviderFixture): true | string =>
  fixture.mutate !== undefined || 'The fixture has no `mutate`, so nothing can be changed';
