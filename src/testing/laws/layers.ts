/** Laws of layers: calls and answers pass through a layer unchanged, except for the effect that the layer exists for. */
import assert from 'node:assert/strict';
import { chunksOf, closeBodies, type ResourceBody } from '../../core/body.ts';
import { createContext } from '../../core/context.ts';
import { ResourceError, type ResourceErrorCode } from '../../core/errors.ts';
import type { Layer } from '../../core/layer.ts';
import { NAMED_METHODS } from '../../core/operations.ts';
import { AGAIN_METHODS, type ChangeEvent, OPTIONAL_METHODS } from '../../core/provider.ts';
import {
  ALL_OPTIONAL,
  CALLER_METHODS,
  type CallerMethod,
  call,
  innerProvider,
  type LayerLaw,
  type OptionalMethod,
  RESOURCE,
  type Reached,
  URI,
} from '../layer-law.ts';
import { EVERYTHING, refusal, thrownBy } from '../observe.ts';
import { layersAgainLaws } from './layers-again.ts';
import { layersCallAgainLaws } from './layers-call-again.ts';
import { layersListAgainLaws } from './layers-list-again.ts';
import { layersVersionLaws } from './layers-versions.ts';

const CODES: readonly ResourceErrorCode[] = [
  'not-found',
  'not-listable',
  'denied',
  'too-large',
  'timeout',
  'limited',
  'invalid',
  'unavailable',
  'internal',
];

/** Methods whose URI reaches the inner provider. */
const WITH_URI: ReadonlySet<CallerMethod> = new Set([
  'list',
  'metadata',
  'read',
  'watch',
  'search',
  'subscribe',
  'getSkill',
]);

/** Milliseconds after which an event that should follow at once counts as missing. */
const PATIENCE_MS = 2_000;

/** Whether a layer may leave the method out. */
const isFree = (method: string): boolean => (AGAIN_METHODS as readonly string[]).includes(method);

export const layerLaws: readonly LayerLaw[] = [
  ...layersAgainLaws,
  ...layersListAgainLaws,
  ...layersCallAgainLaws,
  ...layersVersionLaws,
  {
    name: 'it keeps each optional method of the inner provider, except `again` and its like, and adds none',
    async check(layer) {
      const ofProviders = subsets(OPTIONAL_METHODS);
      const named = NAMED_METHODS.map((method): OptionalMethod[] => [method]);
      for (const methods of [...ofProviders, ...named, [...OPTIONAL_METHODS, ...NAMED_METHODS]]) {
        const layered = layer(innerProvider({ methods }));
        // A layer that cannot tell whether it would give the same answer again leaves such a method out.
        const kept = ALL_OPTIONAL.filter((method) => layered[method] !== undefined);
        const expected = methods.filter((method) => kept.includes(method) || !isFree(method));
        assert.deepEqual(kept, expected, `Of a provider with ${methods.join(', ') || 'no optional method'}`);
      }
    },
  },
  {
    name: 'it changes neither the name nor the features',
    async check(layer) {
      const inner = innerProvider();
      const layered = layer(inner);
      assert.equal(layered.name, inner.name);
      assert.deepEqual(layered.features, inner.features);
    },
  },
  {
    name: 'every method reaches the inner provider, with its URI, and its answer comes back',
    async check(layer) {
      for (const method of CALLER_METHODS) {
        const reached: Reached[] = [];
        const before = async (one: Reached): Promise<void> => void reached.push(one);
        const answer = await call(layer(innerProvider({ before })), method);
        // A layer may make further calls, for example of `metadata` before it lets a read pass.
        const arrival = reached.find((one) => one.method === method);
        assert.ok(arrival !== undefined, `${method} did not reach the inner provider`);
        const uri = WITH_URI.has(method) ? URI : undefined;
        assert.equal(arrival.uri, uri, `The URI of ${method}`);
        assert.ok(answer !== undefined, `${method} answered nothing`);
        if (method === 'read') await closeBodies(answer as readonly ResourceBody[]);
      }
    },
  },
  {
    name: 'an error of the inner provider keeps its code, URI and details',
    async check(layer) {
      for (const method of CALLER_METHODS) {
        for (const code of CODES) {
          const inner = innerProvider({
            before: () => Promise.reject(new ResourceError(code, 'Refused', { uri: URI, details: { limit: 7 } })),
          });
          const error = await refusal(() => call(layer(inner), method), [code], `${method}, with an inner ${code},`);
          assert.equal(error.uri, URI, `The URI of the error of ${method}`);
          assert.deepEqual(error.details, { limit: 7 }, `The details of the error of ${method}`);
        }
      }
    },
  },
  {
    name: 'a stream that fails midway fails with the same code',
    async check(layer) {
      async function* failing(): AsyncIterable<Uint8Array> {
        yield new Uint8Array(10_000).fill(0x61);
        throw new ResourceError('unavailable', 'The place went away', { uri: URI });
      }
      const inner = innerProvider({
        bodies: () => [{ resource: RESOURCE, content: { kind: 'stream', open: failing } }],
      });
      await refusal(() => readThrough(layer, inner), ['unavailable'], 'A stream that fails midway');
    },
  },
  {
    name: 'principal, request id and log reach the inner provider, and so does the end of the signal [SEC-UTIL-2]',
    async check(layer) {
      for (const method of CALLER_METHODS) await checkContext(layer, method);
    },
  },
  {
    name: 'events pass, and the end of a watch reaches the inner one',
    async check(layer) {
      let tell: (event: ChangeEvent) => void = () => assert.fail('Nothing was watched');
      let unwatched = 0;
      const inner = innerProvider({
        onWatch: (onChange) => {
          tell = onChange;
        },
        onUnwatch: () => unwatched++,
      });
      const events: ChangeEvent[] = [];
      const handle = await layer(inner).watch?.(URI, (event) => events.push(event), createContext());
      tell({ kind: 'updated', uri: URI });
      assert.deepEqual(events, [{ kind: 'updated', uri: URI }]);
      await handle?.[Symbol.asyncDispose]();
      assert.ok(unwatched > 0, 'The inner watch was left open');
    },
  },
  {
    name: 'closing a body that was not read closes the inner one [RES-7]',
    async check(layer) {
      const source = tracedBody();
      const bodies = await layer(innerProvider({ bodies: () => [source.body] })).read(URI, EVERYTHING, createContext());
      await closeBodies(bodies);
      await soon(() => source.isReleased(), 'The inner body was left open');
    },
  },
  {
    name: 'leaving a stream in the middle ends the inner one [RES-7]',
    async check(layer) {
      const source = tracedBody();
      const bodies = await layer(innerProvider({ bodies: () => [source.body] })).read(URI, EVERYTHING, createContext());
      for (const body of bodies) {
        for await (const _chunk of chunksOf(body.content)) break;
      }
      await soon(() => source.hasEnded(), 'The inner stream was left open');
      await closeBodies(bodies);
    },
  },
  {
    name: '`close` reaches the inner provider, and waits for it [RES-7]',
    async check(layer) {
      let closed = false;
      const onClose = async (): Promise<void> => {
        await new Promise((resolve) => setImmediate(resolve));
        closed = true;
      };
      await layer(innerProvider({ onClose })).close?.();
      assert.ok(closed, 'The inner provider was not closed');
    },
  },
];

function subsets(methods: readonly OptionalMethod[]): OptionalMethod[][] {
  return Array.from({ length: 2 ** methods.length }, (_, bits) =>
    methods.filter((_method, index) => bits & (1 << index)),
  );
}

async function readThrough(layer: Layer, inner: ReturnType<Layer>): Promise<void> {
  const bodies = await layer(inner).read(URI, EVERYTHING, createContext());
  try {
    for (const body of bodies) for await (const _chunk of chunksOf(body.content));
  } finally {
    await closeBodies(bodies);
  }
}

/** Checks the context that the inner method gets, and aborts while the method runs: its signal has to be aborted, too. */
async function checkContext(layer: Layer, method: CallerMethod): Promise<void> {
  let arrive: (reached: Reached) => void = () => {};
  let release: (error: Error) => void = () => {};
  const arrived = new Promise<Reached>((resolve) => {
    arrive = resolve;
  });
  const held = new Promise<void>((_, reject) => {
    release = reject;
  });
  const before = (reached: Reached): Promise<void> => {
    arrive(reached);
    return held;
  };
  const caller = new AbortController();
  const ctx = createContext({ principal: { id: 'somebody' }, requestId: 'request-1', signal: caller.signal });
  const outcome = thrownBy(() => call(layer(innerProvider({ before })), method, ctx));
  const reason = new Error('The caller is gone');
  try {
    const reached = await within(arrived, `${method} did not reach the inner provider`);
    // A layer may pass on another signal and another log. The end of the signal is checked below.
    const { signal: _signal, log: _log, ...rest } = ctx;
    for (const [key, value] of Object.entries(rest)) {
      // A layer may set the fields that the caller left undefined.
      if (value === undefined) continue;
      assert.deepEqual(Reflect.get(reached.ctx, key), value, `The ${key} of the context of ${method}`);
    }
    assert.equal(typeof reached.ctx.log?.info, 'function', `The log of ${method}`);
    assert.ok(!reached.ctx.signal.aborted, `The signal of ${method} was aborted before its time`);
    caller.abort(reason);
    assert.ok(
      reached.ctx.signal.aborted,
      `The signal of the caller of ${method} is aborted, but that of the inner provider is not`,
    );
  } finally {
    release(reason);
    await within(outcome, `${method} did not end after its signal was aborted`);
  }
}

/** A body that records whether its stream has ended, and whether it was closed. */
function tracedBody(): { body: ResourceBody; hasEnded: () => boolean; isReleased: () => boolean } {
  let ended = false;
  let closed = false;
  async function* open(): AsyncIterable<Uint8Array> {
    try {
      for (;;) yield new Uint8Array(8_192).fill(0x61);
    } finally {
      ended = true;
    }
  }
  const close = async (): Promise<void> => {
    closed = true;
  };
  return {
    body: { resource: RESOURCE, content: { kind: 'stream', open }, close },
    hasEnded: () => ended,
    isReleased: () => closed,
  };
}

/** Returns the result of the work; throws the complaint when it takes too long. */
async function within<T>(work: Promise<T>, complaint: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint)), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for something that follows within a few turns of the event loop. */
async function soon(holds: () => boolean, complaint: string): Promise<void> {
  for (let turns = 0; turns < 100 && !holds(); turns++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(holds(), complaint);
}
