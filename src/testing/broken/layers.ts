/** Layers with one defect each. They prove that each law of layers finds a layer that breaks it. */
import { createOrigins, withAgain } from '../../core/again.ts';
import { bytesOf, type ResourceBody, textBytes } from '../../core/body.ts';
import { sameBytes, versioned } from '../../core/content-version.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { Operations } from '../../core/operations.ts';
import type { ResourcePage } from '../../core/provider.ts';
import { drainBody } from '../observe.ts';

type Bodies = readonly ResourceBody[];

export interface BrokenLayer {
  /** The defect of the layer, in words. */
  readonly defect: string;
  /** The beginning of the name of the law that it breaks. */
  readonly law: string;
  /** Matches the message with which the law fails. */
  readonly says: RegExp;
  readonly layer: Layer;
}

/** The inner provider, except for the overrides, which may also add methods. */
const like = (inner: Operations, overrides: Partial<Operations>): Operations => ({
  ...wrapProvider(inner, overrides),
  ...overrides,
});

/** The inner provider, whose `metadata` fails with a changed error. */
const rewording = (inner: Operations, reword: (error: ResourceError) => unknown): Operations =>
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
    defect: 'gives other bytes under the version of the inner provider',
    law: 'the version of the inner provider',
    says: /The bytes of the inner version/,
    layer: (inner) =>
      like(inner, {
        read: async (uri, want, ctx) =>
          Promise.all(
            (await inner.read(uri, want, ctx)).map(async (body) => {
              const bytes = Buffer.from((await drainBody(body)).map((byte) => byte ^ 32));
              return { ...body, content: sameBytes(bytesOf(bytes), body.content) };
            }),
          ),
      }),
  },
  {
    defect: 'gives each caller other bytes under the same version, which it makes itself',
    law: 'a version that the layer makes',
    says: /The bytes of version "own"/,
    layer: (inner) =>
      like(inner, {
        read: async (uri, want, ctx) =>
          (await inner.read(uri, want, ctx)).map((body) => ({
            ...body,
            content: versioned(textBytes(`for ${ctx.principal.id}`), '"own"'),
          })),
      }),
  },
  {
    defect: 'says by itself that a read would give the same',
    law: '`again` says yes only where the inner',
    says: /where the inner provider says no|was not asked/,
    layer: (inner) => like(inner, { ...(inner.again && { again: () => true }) }),
  },
  {
    defect: 'asks the inner `again` about bodies of another read',
    law: '`again` says yes only where the inner',
    says: /other bodies than it gave|was not asked/,
    layer(inner) {
      const origins = new WeakMap<Bodies, Bodies>();
      return like(inner, {
        async read(uri, want, ctx) {
          const former = await inner.read(uri, want, ctx);
          const bodies = [...(await inner.read(uri, want, ctx))];
          origins.set(bodies, former);
          return bodies;
        },
        again: (bodies, uri, want, ctx) => inner.again?.(origins.get(bodies) ?? [], uri, want, ctx) === true,
      });
    },
  },
  {
    defect: 'drops the principal that asks for `again`',
    law: '`again` says yes only where the inner',
    says: /principal that asks again/,
    layer: (inner) =>
      like(inner, {
        again: (bodies, uri, want) => inner.again?.(bodies, uri, want, createContext()) === true,
      }),
  },
  {
    defect: 'makes something else of the same bodies each time, and says that a read would give the same',
    law: '`again` says yes only where what the layer makes',
    says: /What the layer makes of the same/,
    layer(inner) {
      const { made, again } = createOrigins(inner);
      let count = 0;
      return like(inner, {
        again,
        async read(uri, want, ctx) {
          const bodies = await inner.read(uri, want, ctx);
          const title = `read ${++count} times`;
          return made(
            bodies.map((body) => ({ ...body, resource: { ...body.resource, title } })),
            bodies,
          );
        },
      });
    },
  },
  {
    defect: 'says yes to `again` for bodies of another read',
    law: '`again` says no to bodies that the layer',
    says: /what it did not give/,
    layer(inner) {
      let latest: Bodies = [];
      return like(inner, {
        async read(uri, want, ctx) {
          latest = await inner.read(uri, want, ctx);
          return latest;
        },
        again: (_bodies, uri, want, ctx) => inner.again?.(latest, uri, want, ctx) === true,
      });
    },
  },
  {
    defect: 'throws in `again`',
    law: '`again` says no to bodies that the layer',
    says: /no such bodies/,
    layer: (inner) =>
      like(inner, {
        again() {
          throw new Error('no such bodies');
        },
      }),
  },
  {
    defect: 'says by itself that a list would give the same',
    law: '`listAgain` says yes only where the inner',
    says: /where the inner provider says no|was not asked/,
    layer: (inner) => like(inner, { ...(inner.listAgain && { listAgain: () => true }) }),
  },
  {
    defect: 'drops the principal that asks for `listAgain`',
    law: '`listAgain` says yes only where the inner',
    says: /principal that asks again/,
    layer: (inner) =>
      like(inner, { listAgain: (page, uri, want) => inner.listAgain?.(page, uri, want, createContext()) === true }),
  },
  {
    defect: 'makes something else of the same page each time, and says that a list would give the same',
    law: '`listAgain` says yes only where what the layer makes',
    says: /What the layer makes of the same/,
    layer(inner) {
      const { made, listAgain } = createOrigins(inner);
      let count = 0;
      return like(inner, {
        listAgain,
        async list(uri, page, ctx) {
          const listed = await inner.list(uri, page, ctx);
          const title = `listed ${++count} times`;
          return made({ ...listed, resources: listed.resources.map((each) => ({ ...each, title })) }, listed);
        },
      });
    },
  },
  {
    defect: 'says yes to `listAgain` for the page of another list',
    law: '`listAgain` says no to pages that the layer',
    says: /what it did not give/,
    layer(inner) {
      let latest: ResourcePage = { resources: [] };
      return like(inner, {
        async list(uri, page, ctx) {
          latest = await inner.list(uri, page, ctx);
          return latest;
        },
        listAgain: (_page, uri, want, ctx) => inner.listAgain?.(latest, uri, want, ctx) === true,
      });
    },
  },
  {
    defect: 'answers `callToolAgain` without asking the inner provider',
    law: '`callToolAgain` gives what',
    says: /The answer of the layer|were not asked/,
    layer: (inner) => withAgain(like(inner, {}), { callToolAgain: () => '"content":[]' }),
  },
  {
    defect: 'drops the principal that asks for `callToolAgain`',
    law: '`callToolAgain` gives what',
    says: /principal that calls again/,
    layer: (inner) =>
      withAgain(like(inner, {}), {
        callToolAgain: (request, owner) => inner.callToolAgain?.(request, owner, createContext()),
      }),
  },
  {
    defect: 'drops the arguments of a call in `callToolAgain`',
    law: '`callToolAgain` gives what',
    says: /The call that reaches/,
    layer: (inner) =>
      withAgain(like(inner, {}), {
        callToolAgain: ({ name }, owner, ctx) => inner.callToolAgain?.({ name }, owner, ctx),
      }),
  },
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
    defect: 'drops `search`',
    law: 'it keeps each optional method',
    says: /Of a provider with search/,
    layer(inner) {
      const { search: _, ...rest } = like(inner, {});
      return rest;
    },
  },
  {
    defect: 'drops tools',
    law: 'it keeps each optional method',
    says: /Of a provider with callTool/,
    layer(inner) {
      const { callTool: _, ...rest } = like(inner, {});
      return rest;
    },
  },
  {
    defect: 'answers a tool call without asking the inner provider',
    law: 'every method reaches',
    says: /callTool did not reach the inner provider/,
    layer: (inner) => like(inner, inner.callTool === undefined ? {} : { callTool: async () => ({ content: [] }) }),
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
    defect: 'answers `metadata` without asking the inner provider',
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
    defect: 'gives all errors the same code',
    law: 'an error of the inner provider',
    says: /refused with "internal", not with not-found/,
    layer: (inner) => rewording(inner, () => new ResourceError('internal', 'Something went wrong')),
  },
  {
    defect: 'turns each ResourceError into a plain Error',
    law: 'an error of the inner provider',
    says: /something else than a ResourceError/,
    layer: (inner) => rewording(inner, (error) => new Error(error.message)),
  },
  {
    defect: 'drops the URI of an error',
    law: 'an error of the inner provider',
    says: /The URI of the error of metadata/,
    layer: (inner) => rewording(inner, (error) => new ResourceError(error.code, error.message)),
  },
  {
    defect: 'ends a failing stream without an error',
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
    defect: 'does not pass the signal on',
    law: 'principal, request id and log',
    says: /The signal of the caller of metadata is aborted, but that of the inner provider is not/,
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
    defect: 'does not end the inner stream when its own is left',
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
