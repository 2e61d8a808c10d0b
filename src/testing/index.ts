/** Contract suites for providers and layers of your own, to run under vitest or by themselves. */

export { checkLaw, type Verdict } from './check-law.ts';
export type {
  Leaves,
  MakeFixture,
  Mutations,
  ProviderFixture,
} from './fixture.ts';
export type { OptionalFeature, ProviderLaw } from './law.ts';
export { LAYER_LAWS, layerContract } from './layer-contract.ts';
export type { LayerLaw } from './layer-law.ts';
export { memoryFixture, streaming } from './memory-fixture.ts';
export { PROVIDER_LAWS, providerContract } from './provider-contract.ts';
export { ODD_NAMES, standardSeed } from './seed.ts';
