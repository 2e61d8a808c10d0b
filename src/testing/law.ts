/** The type of a law of the provider contract. Laws are data, so that any test runner can check them. */
import type { ProviderFeatures } from '../core/provider.ts';
import type { ProviderFixture } from './fixture.ts';

/** A feature that a provider may lack. */
export type OptionalFeature = Extract<
  keyof ProviderFeatures,
  'watch' | 'templates' | 'completion' | 'search' | 'ranges'
>;

export interface ProviderLaw {
  /** The law, as a sentence. */
  readonly name: string;
  /**
   * The feature that the law is about. If a provider declares that it lacks the feature, the contract checks that the feature is
   * really absent.
   */
  readonly feature?: OptionalFeature;
  /** Whether the law can be checked: true, or a sentence that says what the fixture lacks for it. */
  readonly applies?: (fixture: ProviderFixture) => true | string;
  /** Throws if the law is broken. */
  readonly check: (fixture: ProviderFixture) => Promise<void>;
}

/** For `applies` of a law that needs data that can be changed. */
export const canChange = (fixture: ProviderFixture): true | string =>
  fixture.mutate !== undefined || 'The fixture has no `mutate`, so nothing can be changed';
