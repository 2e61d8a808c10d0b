import { describe, expect, it } from 'vitest';
import type { Layer } from '../core/layer.ts';
import { BROKEN_LAYERS } from './broken/layers.ts';
import { LAYER_LAWS, layerContract } from './layer-contract.ts';

const nothing: Layer = (inner) => inner;

layerContract('no layer at all', nothing);

describe('the layer contract fails a layer that', () => {
  for (const { defect, law: beginning, says, layer } of BROKEN_LAYERS) {
    it(defect, async () => {
      const laws = LAYER_LAWS.filter(({ name }) => name.startsWith(beginning));
      expect(laws).toHaveLength(1);
      for (const law of laws) await expect(law.check(layer)).rejects.toThrow(says);
    });
  }

  it('breaks any law: a layer here breaks each law', () => {
    const unbroken = LAYER_LAWS.filter(({ name }) => !BROKEN_LAYERS.some(({ law }) => name.startsWith(law)));
    expect(unbroken.map(({ name }) => name)).toEqual([]);
  });
});
