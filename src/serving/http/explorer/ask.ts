/** Requests of a page: each is dispatched like one of an MCP client, so that whatever holds for those holds here. */

import type { Log, Principal } from '../../../core/context.ts';
import type { WireError } from '../../../core/errors.ts';
import type { Engine } from '../../../engine/index.ts';
import type { Shell } from '../../../frontends/explorer/layout.ts';
import { listForClient } from '../../../frontends/resources/list.ts';
import type { Data } from '../../../protocol/data.ts';
import { type ListParams, listParams } from '../../../protocol/methods.ts';
import type { Dispatcher } from '../../dispatch/dispatcher.ts';
import type { Envelope, Failure } from '../../dispatch/envelope.ts';
import { admitted, type Method } from '../../dispatch/methods.ts';
import { standingAlone } from '../../dispatch/standing-alone.ts';
import type { HttpRequest } from '../exchange.ts';

/** Who asks, and what for. */
export interface Visitor {
  readonly http: HttpRequest;
  readonly principal: Principal;
  /** The person who has signed in, if people can sign in; without a name nobody has. */
  readonly person?: Shell['person'];
  readonly log: Log;
}

/** A request that was refused or failed, as clients are told it. */
export class Refused extends Error {
  readonly wire: WireError;
  readonly failure: unknown;

  constructor({ error, cause }: Failure) {
    super(error.message);
    this.wire = error;
    this.failure = cause;
  }

  /** The reason, by its code; `internal` where none is given. */
  get reason(): string {
    const reason = this.wire.data?.reason;
    return typeof reason === 'string' ? reason : 'internal';
  }
}

export type Ask = <T>(method: string, params: Data, visitor: Visitor) => Promise<T>;

export const envelopeOf = (method: string, params: Data, { http, principal, log }: Visitor): Envelope =>
  standingAlone(
    { jsonrpc: '2.0', id: 0, method, params },
    { principal, peer: undefined, log, signal: http.signal, tell() {}, headers: http.headers, transport: 'tcp' },
  );

/** @throws Refused */
export function createAsk(vitrine: Engine, dispatcher: Dispatcher): Ask {
  const own = new Map([['resources/list', rootsFirst(vitrine)]]);
  return async <T>(method: string, params: Data, visitor: Visitor): Promise<T> => {
    const envelope = envelopeOf(method, params, visitor);
    const roots = method === 'resources/list' && params.uri === undefined;
    const outcome = await dispatcher.dispatch(roots ? { ...envelope, own } : envelope);
    if ('error' in outcome) throw new Refused(outcome);
    // As it is on the wire, whether it was written before or not.
    return JSON.parse('json' in outcome ? outcome.json : JSON.stringify(outcome.result)) as T;
  };
}

/** The list of the roots alone, whatever the default list is. */
function rootsFirst(vitrine: Engine): Method {
  const options = { ...vitrine.resources, listing: 'roots', kept: undefined } as const;
  return admitted(vitrine, {
    name: 'resources/list',
    params: listParams,
    run: (params, ctx) => listForClient(options, 'roots of the explorer', params as ListParams, ctx),
  });
}
