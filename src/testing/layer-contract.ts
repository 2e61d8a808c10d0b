/** The contract of layers: a layer passes on calls and answers, and takes nothing away from the provider that it wraps. */
import { describe, it } from 'vitest';
import type { Layer } from '../core/layer.ts';
import { layerLaws } from './laws/layers.ts';
import type { LayerLaw } from './layer-law.ts';
import { memoryFixture, streaming } from './memory-fixture.ts';
import { providerContract } from './provider-contract.ts';

/** All laws of layers, to run them without vitest. `layerContract` also holds a wrapped provider to the laws of providers. */
export const LAYER_LAWS: readonly LayerLaw[] = layerLaws;

/**
 * Registers vitest suites that hold a layer to every law of layers, and a memory provider within it to every law of
 * providers, with its content in memory and in streams. Give the layer options with which it refuses nothing: it allows
 * everything, and no limit is reached.
 *
 * @example
 * layerContract('timeout', timeoutLayer({ timeoutMs: 20_000 }));
 */
export function layerContract(name: string, layer: Layer): void {
  describe(`${name}: the layer contract`, () => {
    for (const law of LAYER_LAWS) it(law.name, () => law.check(layer));
  });
  providerContract(`memory under ${name}`, (seed) => memoryFixture(seed, layer));
  providerContract(`memory in streams under ${name}`, (seed) =>
    memoryFixture(seed, (inner) => layer(streaming(inner))),
  );
}
