/** A server of two resources, whose watches are placed only when `place` is called. */
import { memoryProvider } from '../src/providers/memory/index.ts';
import { createVitrine } from '../src/vitrine.ts';

/** `counts` has the watches that were requested, those that are open, and those that were removed. */
export function slowWatches() {
  const provider = memoryProvider({ resources: { 'a.txt': { text: 'a' }, 'b.txt': { text: 'b' } } });
  let place = (): void => {};
  const placed = new Promise<void>((resolve) => {
    place = resolve;
  });
  const counts = { asked: 0, open: 0, removed: 0 };
  const vitrine = createVitrine({
    mounts: [
      {
        name: 'm',
        prefix: 'none',
        provider: {
          ...provider,
          async watch() {
            counts.asked++;
            await placed;
            counts.open++;
            return {
              [Symbol.asyncDispose]: async () => {
                counts.open--;
                counts.removed++;
              },
            };
          },
        },
      },
    ],
  });
  return { vitrine, counts, place };
}
