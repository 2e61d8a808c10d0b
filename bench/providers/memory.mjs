/** Compares literal resources with a plain `Map`, to show the cost of a provider that has nothing to fetch. */
import { asking, ENTRIES, nameOf, names, TEXT } from '../lib/turns.mjs';

export const client = 'a Map';

/** @param {import('../lib/turns.mjs').Load} load */
export async function open(load) {
  const { page, bytes } = await asking(load);
  const { memoryProvider } = await load('providers/memory.js');
  const provider = memoryProvider({ resources: Object.fromEntries(names().map((name) => [name, { text: TEXT }])) });
  const map = new Map(names().map((name) => [name, Buffer.from(TEXT)]));
  return {
    turns: {
      list: {
        ours: () => page(provider, 'memory:///'),
        native: () => [...map.keys()].slice(0, ENTRIES).length,
      },
      read: {
        ours: (index) => bytes(provider, `memory:///${nameOf(index)}`),
        native: (index) => map.get(nameOf(index))?.byteLength ?? 0,
      },
    },
    close: async () => provider.close?.(),
  };
}
