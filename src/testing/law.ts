/** A law of the provider contract as data, so that any test runner, or a test of the law itself, can hold one to it. */
import type { ProviderFeatures } from '../core/provider.ts';
import type { ProviderFixture } from './fixture.ts';

/** A feature that a provider may do without. */
export type OptionalFeature = Extract<
  keyof ProviderFeatures,
  'watch' | 'templates' | 'completion' | 'search' | 'ranges'
>;

export interface ProviderLaw {
  /** The law, as a sentence. */
  readonly name: string;
  /** The feature that it is about. A provider whose flag is false has to be without it in fact. */
  readonly feature?: OptionalFeature;
  /** True, or what the fixture lacks to be held to this law. */
  readonly applies?: (fixture: ProviderFixture) => true | string;
  /** Throws when the law is broken. */
  readonly check: (fixture: ProviderFixture) => Promise<void>;
}

/** For `applies`: the data can be changed. */
export const canChange = (fixture: ProviderFixture): true | string =>
  fixture.mutate !== undefined || 'The fixture has no `mutate`, so nothing can be changed';
