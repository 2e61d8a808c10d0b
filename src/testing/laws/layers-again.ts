/** Laws of layers about `again`: a layer asks the inner provider about that provider's own bodies, or says no. */
import assert from 'node:assert/strict';
import { closeBodies, type ResourceBody } from '../../core/body.ts';
import { type Context, createContext } from '../../core/context.ts';
import type { Layer } from '../../core/layer.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { innerProvider, type LayerLaw, RESOURCE, URI } from '../layer-law.ts';
import { drainBody, EVERYTHING } from '../observe.ts';

type Bodies = readonly ResourceBody[];

/** The arguments of a call of the inner provider's `again`. */
interface AgainCall {
  readonly bodies: Bodies;
  readonly uri: string;
  readonly ctx: Context;
}

export const layersAgainLaws: readonly LayerLaw[] = [
  {
    name: '`again` says yes only where the inner provider does, about its own bodies, for the same caller',
    async check(layer) {
      for (const answer of [true, false]) {
        const { layered, bodies, given, calls } = await readOnce(layer, answer);
        const ctx = createContext({ principal: { id: 'somebody' }, requestId: 'request-1' });
        const saysYes = layered.again?.(bodies, URI, EVERYTHING, ctx) === true;
        if (!saysYes) continue;
        assert.ok(answer, 'It says yes where the inner provider says no');
        const [last] = calls.slice(-1);
        assert.ok(last !== undefined, 'It says yes, and the inner provider was not asked');
        assert.ok(last.bodies === given(), 'The inner provider was asked about other bodies than it gave');
        assert.equal(last.uri, URI);
        assert.deepEqual(last.ctx.principal, ctx.principal, 'The principal that asks again');
        assert.equal(last.ctx.requestId, ctx.requestId, 'The id of the request that asks again');
      }
    },
  },
  {
    name: '`again` says yes only where what the layer makes of the same bodies is the same',
    async check(layer) {
      const { layered, bodies } = await readOnce(layer, true);
      if (layered.again?.(bodies, URI, EVERYTHING, createContext()) !== true) return;
      const before = await contentsOf(bodies);
      const after = await contentsOf(await layered.read(URI, EVERYTHING, createContext()));
      assert.deepEqual(after, before, 'What the layer makes of the same');
    },
  },
  {
    name: '`again` says no to bodies that the layer has not given, and never throws',
    async check(layer) {
      const { layered, bodies } = await readOnce(layer, true);
      const isNo = (given: Bodies, uri: string): void =>
        assert.ok(
          layered.again?.(given, uri, EVERYTHING, createContext()) !== true,
          'It says yes to what it did not give',
        );
      isNo([...bodies], URI);
      isNo([], URI);
      isNo(bodies, 'memory:///another.txt');
      isNo(bodies, 'no URI');
    },
  },
];

/** Reads once through a layer. @param answer the answer of the inner provider to `again` */
async function readOnce(layer: Layer, answer: boolean) {
  const calls: AgainCall[] = [];
  const bytes = new TextEncoder().encode('hello');
  let latest: Bodies | undefined;
  const inner = innerProvider({
    bodies: () => {
      latest = [{ resource: RESOURCE, content: { kind: 'bytes', bytes } }];
      return latest;
    },
    again(bodies, uri, ctx) {
      calls.push({ bodies, uri, ctx });
      return answer;
    },
  });
  const layered: ResourceProvider = layer(inner);
  const bodies = await layered.read(URI, EVERYTHING, createContext());
  await closeBodies(bodies);
  return { layered, bodies, calls, given: () => latest };
}

const contentsOf = async (bodies: Bodies) =>
  Promise.all(bodies.map(async (body) => ({ resource: body.resource, bytes: await drainBody(body) })));
