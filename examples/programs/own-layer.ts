/** A layer: it wraps every provider, inside the access rules and limits. */
import assert from 'node:assert/strict';
import { createVitrine, type Layer, wrapProvider } from 'vitrine';
import { memoryProvider } from 'vitrine/providers/memory';

const reads = new Map<string, number>();

/** Counts reads. All other methods are those of the inner provider. */
const counting: Layer = (inner) =>
  wrapProvider(inner, {
    async read(uri, want, ctx) {
      const bodies = await inner.read(uri, want, ctx);
      reads.set(uri, (reads.get(uri) ?? 0) + 1);
      return bodies;
    },
  });

const notes = memoryProvider({ resources: { 'today.md': { text: '# Today' } } });
const vitrine = createVitrine({ mounts: { notes }, layers: [counting] });
await vitrine.read('notes+memory:///today.md');
await assert.rejects(vitrine.read('notes+memory:///tomorrow.md'), { code: 'not-found' });
assert.deepEqual([...reads], [['notes+memory:///today.md', 1]]);
await vitrine.close();
