/** A law of layers about `callToolAgain`: it gives what the inner operations give for the same call and caller, or nothing. */
import assert from 'node:assert/strict';
import { withAgain } from '../../core/again.ts';
import { type Context, createContext } from '../../core/context.ts';
import type { NamedRequest } from '../../core/mounts/mounted-server.ts';
import type { Owner } from '../../core/operations.ts';
import { innerProvider, type LayerLaw } from '../layer-law.ts';

const MEMBERS = '"content":[]';

/** One of Vitrine's own tools. */
const OWNER: Owner = { onlyResources: true };

export const layersCallAgainLaws: readonly LayerLaw[] = [
  {
    name: '`callToolAgain` gives what the inner operations give for the same call by the same caller, or nothing',
    async check(layer) {
      for (const members of [MEMBERS, undefined]) {
        const calls: { readonly request: NamedRequest; readonly owner: Owner; readonly ctx: Context }[] = [];
        const layered = layer(
          withAgain(innerProvider(), {
            callToolAgain(request, owner, ctx) {
              calls.push({ request, owner, ctx });
              return members;
            },
          }),
        );
        const ctx = createContext({ principal: { id: 'somebody' }, requestId: 'request-1' });
        const request: NamedRequest = { name: 'note', arguments: { uri: 'memory:///note.txt' } };
        const given = layered.callToolAgain?.(request, OWNER, ctx);
        if (given === undefined) continue;
        assert.equal(given, members, 'The answer of the layer, and that of the inner operations');
        const [last] = calls.slice(-1);
        assert.ok(last !== undefined, 'The layer answers, but the inner operations were not asked');
        assert.deepEqual(last.request, request, 'The call that reaches the inner operations');
        assert.deepEqual(last.owner, OWNER, 'The owner of the tool');
        assert.deepEqual(last.ctx.principal, ctx.principal, 'The principal that calls again');
        assert.equal(last.ctx.requestId, ctx.requestId, 'The id of the request that calls again');
      }
    },
  },
];
