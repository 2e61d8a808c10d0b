/** Layers with one thing wrong each. */
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Layer, type ProviderOverrides, wrapProvider } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';

export interface BrokenLayer {
  /** What is wrong with it. */
  readonly defect: string;
  /** The beginning of the name of the law that it breaks. */
  readonly law: string;
  /** How that shows in the law's complaint. */
  readonly says: RegExp;
  readonly layer: Layer;
}

/** The inner provider but for the overrides, which may also invent a method. */
const like = (inner: ResourceProvider, overrides: ProviderOverrides): ResourceProvider => ({
  ...wrapProvider(inner, overrides),
  ...overrides,
});

/** The inner provider, whose `metadata` fails with another error than its own. */
const rewording = (inner: ResourceProvider, reword: (error: ResourceError) => unknown): ResourceProvider =>
  like(inner, {
    metadata: async (uri, ctx) => {
      try {
        return await inner.metadata(uri, ctx);
      } catch (error) {
        throw error instanceof ResourceError ? reword(error) : error;
      }
    },
  });

export const BROKEN_LAYERS: readonly BrokenLayer[] = [
  {
    defect: 'drops `watch`',
    law: 'it keeps each optional method',
    says: /Of a provider with watch/,
    layer(inner) {
      const { watch: _, ...rest } = like(inner, {});
      return rest;
    },
  },
  {
    defect: 'drops `search`, which it does not know of',
    law: 'it keeps each optional method',
    says: /Of a provider with search/,
    layer(inner) {
      const { search: _, ...rest } = like(inner, {});
      return rest;
    },
  },
  {
    defect: 'invents `complete`',
    law: 'it keeps each optional method',
    says: /Of a provider with no optional method/,
    layer: (inner) => like(inner, { complete: async () => ({ values: [], hasMore: false }) }),
  },
  {
    defect: 'changes the features',
    law: 'it changes neither',
    says: /ranges/,
    layer: (inner) => like(inner, { features: { ...inner.features, ranges: false } }),
  },
  {
    defect: 'answers without asking',
    law: 'every method reaches',
    says: /metadata did not reach the inner provider/,
    layer: (inner) => like(inner, { metadata: async (uri) => ({ uri, name: 'made up' }) }),
  },
  {
    defect: 'asks for another URI',
    law: 'every method reaches',
    says: /The URI of metadata/,
    layer: (inner) => like(inner, { metadata: (uri, ctx) => inner.metadata(`${uri}/`, ctx) }),
  },
  {
    defect: 'makes one error of all errors',
    law: 'what the inner provider refuses',
    says: /refused with "internal", not with not-found/,
    layer: (inner) => rewording(inner, () => new ResourceError('internal', 'Something went wrong')),
  },
  {
    defect: 'makes plain errors of errors',
    law: 'what the inner provider refuses',
    says: /something else than a ResourceError/,
    layer: (inner) => rewording(inner, (error) => new Error(error.message)),
  },
  {
    defect: 'forgets what an error is about',
    law: 'what the inner provider refuses',
    says: /The URI of the error of metadata/,
    layer: (inner) => rewording(inner, (error) => new ResourceError(error.code, error.message)),
  },
  {
    defect: 'ends a stream where it fails',
    law: 'a stream that fails midway',
    says: /was not refused/,
    layer: (inner) =>
      like(inner, {
        read: async (uri, want, ctx) =>
          (await inner.read(uri, want, ctx)).map((body) => {
            const { content } = body;
            if (content.kind === 'bytes') return body;
            async function* tolerant(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
              try {
                yield* source;
              } catch {}
            }
            return { ...body, content: { ...content, open: () => tolerant(content.open()) } };
          }),
      }),
  },
  {
    defect: 'makes a context of its own',
    law: 'principal, request id and log',
    says: /The principal of the context of metadata/,
    layer: (inner) => like(inner, { metadata: (uri) => inner.metadata(uri, createContext()) }),
  },
  {
    defect: 'keeps the end of the signal to itself',
    law: 'principal, request id and log',
    says: /The caller of metadata is gone, and the inner provider was not told/,
    layer: (inner) =>
      like(inner, {
        metadata: (uri, ctx) => inner.metadata(uri, { ...ctx, signal: new AbortController().signal }),
      }),
  },
  {
    defect: 'loses events',
    law: 'events pass',
    says: /deep-equal/,
    layer: (inner) =>
      like(inner, {
        ...(inner.watch && { watch: async (uri, _, ctx) => inner.watch?.(uri, () => {}, ctx) ?? NOTHING }),
      }),
  },
  {
    defect: 'leaves watches open',
    law: 'events pass',
    says: /The inner watch was left open/,
    layer: (inner) =>
      like(inner, {
        watch: async (uri, onChange, ctx) => {
          await inner.watch?.(uri, onChange, ctx);
          return NOTHING;
        },
      }),
  },
  {
    defect: 'drops the `close` of bodies',
    law: 'closing a body',
    says: /The inner body was left open/,
    layer: (inner) =>
      like(inner, {
        read: async (uri, want, ctx) => (await inner.read(uri, want, ctx)).map(({ close: _, ...body }) => body),
      }),
  },
  {
    defect: 'takes chunks without ever returning them',
    law: 'leaving a stream in the middle',
    says: /The inner stream was left open/,
    layer: (inner) =>
      like(inner, {
        read: async (uri, want, ctx) =>
          (await inner.read(uri, want, ctx)).map((body) => {
            const { content } = body;
            if (content.kind === 'bytes') return body;
            async function* careless(source: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
              for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
            }
            return { ...body, content: { ...content, open: () => careless(content.open()[Symbol.asyncIterator]()) } };
          }),
      }),
  },
  {
    defect: 'does not pass `close`',
    law: '`close` reaches',
    says: /The inner provider was not closed/,
    layer: (inner) => like(inner, { close: async () => {} }),
  },
  {
    defect: 'does not wait for `close`',
    law: '`close` reaches',
    says: /The inner provider was not closed/,
    layer: (inner) => like(inner, { close: async () => void inner.close?.() }),
  },
];

const NOTHING: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };
