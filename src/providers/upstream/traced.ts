/** Sends requests to an upstream as part of a trace, which `_meta` names (SEP-414). */

import type { Data } from '../../connection/data.ts';
import type { Context } from '../../core/context.ts';
import type { OutgoingRequest, TraceMeta } from '../../core/trace.ts';

/** Sends a request. If this server has no trace, the request keeps the trace that its client may have named. */
export function sendTraced(
  { trace }: Pick<Context, 'trace'>,
  request: OutgoingRequest,
  params: Data,
  send: (params: Data) => Promise<Data>,
): Promise<Data> {
  if (trace === undefined) return send(params);
  return trace.outgoing(request, (meta) => send(withTrace(params, meta)));
}

/** Replaces the client's position in the trace by this server's. */
function withTrace(params: Data, meta: TraceMeta): Data {
  if (meta.traceparent === undefined) return params;
  const { traceparent: _parent, tracestate: _state, baggage: _baggage, ...others } = (params._meta ?? {}) as Data;
  return { ...params, _meta: { ...others, ...meta } };
}
