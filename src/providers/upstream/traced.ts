/** Requests to an upstream as a part of the trace that they are made for: it is told in `_meta` (SEP-414). */

import type { Data } from '../../connection/data.ts';
import type { Context } from '../../core/context.ts';
import type { OutgoingRequest, TraceMeta } from '../../core/trace.ts';

/** Sends a request; without a trace as it is, with what its client may have said of one of its own. */
export function sendTraced(
  { trace }: Pick<Context, 'trace'>,
  request: OutgoingRequest,
  params: Data,
  send: (params: Data) => Promise<Data>,
): Promise<Data> {
  if (trace === undefined) return send(params);
  return trace.outgoing(request, (meta) => send(withTrace(params, meta)));
}

/** Its place in the trace is here now, not where the client is. */
function withTrace(params: Data, meta: TraceMeta): Data {
  if (meta.traceparent === undefined) return params;
  const { traceparent: _parent, tracestate: _state, baggage: _baggage, ...others } = (params._meta ?? {}) as Data;
  return { ...params, _meta: { ...others, ...meta } };
}
