/** Laws of layers about `listAgain`. They resemble those about `again`. */
import assert from 'node:assert/strict';
import { type Context, createContext } from '../../core/context.ts';
import type { Layer } from '../../core/layer.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import { innerProvider, type LayerLaw, URI } from '../layer-law.ts';

const WANT: Page = { limit: 10 };

export const layersListAgainLaws: readonly LayerLaw[] = [
  {
    name: '`listAgain` says yes only where the inner provider does, about its own page, for the same caller',
    async check(layer) {
      for (const answer of [true, false]) {
        const { layered, page, given, calls } = await listOnce(layer, answer);
        const ctx = createContext({ principal: { id: 'somebody' }, requestId: 'request-1' });
        if (layered.listAgain?.(page, URI, WANT, ctx) !== true) continue;
        assert.ok(answer, 'It says yes where the inner provider says no');
        const [last] = calls.slice(-1);
        assert.ok(last !== undefined, 'It says yes, and the inner provider was not asked');
        assert.ok(given.includes(last.page), 'The inner provider was asked about another page than it gave');
        assert.equal(last.uri, URI);
        assert.deepEqual(last.ctx.principal, ctx.principal, 'The principal that asks again');
        assert.equal(last.ctx.requestId, ctx.requestId, 'The id of the request that asks again');
      }
    },
  },
  {
    name: '`listAgain` says yes only where what the layer makes of the same page is the same',
    async check(layer) {
      const { layered, page } = await listOnce(layer, true);
      if (layered.listAgain?.(page, URI, WANT, createContext()) !== true) return;
      const before = structuredClone(page.resources);
      const after = await layered.list(URI, WANT, createContext());
      assert.deepEqual(after.resources, before, 'What the layer makes of the same');
    },
  },
  {
    name: '`listAgain` says no to pages that the layer has not given, and never throws',
    async check(layer) {
      const { layered, page } = await listOnce(layer, true);
      const isNo = (given: ResourcePage, uri: string | undefined): void =>
        assert.ok(
          layered.listAgain?.(given, uri, WANT, createContext()) !== true,
          'It says yes to what it did not give',
        );
      isNo({ ...page }, URI);
      isNo({ resources: [] }, URI);
      isNo(page, 'memory:///another.txt');
      isNo(page, undefined);
      isNo(page, 'no URI');
    },
  },
];

/** Lists once through a layer. @param answer the answer of the inner provider to `listAgain` */
async function listOnce(layer: Layer, answer: boolean) {
  const calls: { readonly page: ResourcePage; readonly uri: string | undefined; readonly ctx: Context }[] = [];
  const given: ResourcePage[] = [];
  const inner = innerProvider({
    onPage: (page) => void given.push(page),
    listAgain(page, uri, ctx) {
      calls.push({ page, uri, ctx });
      return answer;
    },
  });
  const layered = layer(inner);
  return { layered, page: await layered.list(URI, WANT, createContext()), calls, given };
}
