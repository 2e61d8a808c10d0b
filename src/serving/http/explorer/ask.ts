/** Sends the requests of explorer pages. Each is dispatched like a request of an MCP client, with the same rules and limits. */

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

/** The visitor of a page, and the HTTP request for it. */
export interface Visitor {
  readonly http: HttpRequest;
  readonly principal: Principal;
  /** The person at the browser, without a name if not signed in. Default: people cannot sign in here. */
  readonly person?: Shell['person'];
  readonly log: Log;
}

/** The error of a request that was refused or failed, as a client would get it. */
export class Refused extends Error {
  readonly wire: WireError;
  readonly failure: unknown;

  constructor({ error, cause }: Failure) {
    super(error.message);
    this.wire = error;
    this.failure = cause;
  }

  /** The code of the reason, such as `not-found`. Default: `internal`. */
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
    // A page gets the same data as a client: what JSON makes of the result.
    return JSON.parse('json' in outcome ? outcome.json : JSON.stringify(outcome.result)) as T;
  };
}

/** A `resources/list` that gives the roots, even if the default list is configured to have more. */
function rootsFirst(vitrine: Engine): Method {
  const options = { ...vitrine.resources, listing: 'roots', kept: undefined } as const;
  return admitted(vitrine, {
    name: 'resources/list',
    params: listParams,
    run: (params, ctx) => listForClient(options, 'roots of the explorer', params as ListParams, ctx),
  });
}
