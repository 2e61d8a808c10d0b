/** The memory provider as a fixture. The layer contract uses it, and it is an example of a fixture. */
import type { ResourceBody } from '../core/body.ts';
import { wrapProvider } from '../core/layer.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { treeUri } from '../core/uri.ts';
import { memoryProvider } from '../providers/memory/index.ts';
import type { Leaves, ProviderFixture } from './fixture.ts';

/** A memory provider that holds the seed. @param wrap wraps the provider, for example in a layer */
export function memoryFixture(
  seed: Leaves,
  wrap: (inner: ResourceProvider) => ResourceProvider = (inner) => inner,
): ProviderFixture {
  const memory = memoryProvider({
    resources: Object.fromEntries([...seed].map(([path, bytes]) => [path, { bytes }])),
  });
  const provider = wrap(memory);
  return {
    provider,
    leaves: seed,
    uriOf: (path) => treeUri('memory', path === '' ? [] : path.split('/')),
    hierarchical: true,
    mutate: {
      create: (path, text) => memory.set(path, { text }),
      replace: (path, text) => memory.set(path, { text }),
      remove: (path) => void memory.delete(path),
    },
    close: async () => provider.close?.(),
  };
}

/** Bytes of a chunk of `streaming`. The number is no power of two, so that chunks end at odd places. */
const CHUNK_BYTES = 10_007;

/** The same provider, but every body is a stream of unknown size, which honours the signal and can be closed. */
export function streaming(inner: ResourceProvider): ResourceProvider {
  return wrapProvider(inner, {
    async read(uri, want, ctx) {
      const bodies = await inner.read(uri, want, ctx);
      return bodies.map((body): ResourceBody => {
        if (body.content.kind !== 'bytes') return body;
        const { bytes } = body.content;
        async function* chunks(): AsyncIterable<Uint8Array> {
          for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) {
            ctx.signal.throwIfAborted();
            yield bytes.subarray(at, at + CHUNK_BYTES);
          }
        }
        return { ...body, content: { kind: 'stream', open: chunks }, close: async () => {} };
      });
    },
  });
}
