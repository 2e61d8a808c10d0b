/** Keeps texts that can be made again, in the memory of one process. The texts that were used longest ago are forgotten first. */
import type { BusMemory } from '../../core/bus.ts';

type KeptTexts = Pick<BusMemory, 'keep' | 'kept'> & { clear(): void };

export function createKeptTexts(now: () => number): KeptTexts {
  // The texts in the order of their last use, because a map keeps the order in which its keys were set.
  const texts = new Map<string, { readonly text: string; readonly ttlMs: number; readonly ends: number }>();
  let bytes = 0;

  function forget(name: string): void {
    const found = texts.get(name);
    if (found === undefined) return;
    texts.delete(name);
    bytes -= Buffer.byteLength(name) + Buffer.byteLength(found.text);
  }

  function put(name: string, text: string, ttlMs: number): void {
    forget(name);
    texts.set(name, { text, ttlMs, ends: now() + ttlMs });
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
  }

  return {
    async keep(name, text, { maxBytes, ttlMs }) {
      // Even without all other texts, there is no room for this one.
      if (Buffer.byteLength(name) + Buffer.byteLength(text) > maxBytes) return;
      put(name, text, ttlMs);
      for (const [oldest, { ends }] of texts) {
        if (bytes <= maxBytes && ends > now()) break;
        forget(oldest);
      }
    },
    async kept(name) {
      const found = texts.get(name);
      if (found === undefined || found.ends <= now()) return undefined;
      put(name, found.text, found.ttlMs);
      return found.text;
    },
    clear() {
      texts.clear();
      bytes = 0;
    },
  };
}
