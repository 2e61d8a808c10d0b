/** A client's request as a span of kind server, and as a measurement. */
import { type Attributes, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { toWireError } from '../../core/errors.ts';
import type { IncomingRequest, Telemetry } from '../../core/telemetry.ts';
import { contextIn } from './carrier.ts';
import { type Instruments, nameOf } from './instruments.ts';
import * as names from './names.ts';
import { isToolError, namedAs, type SpanCount, SpanTrace } from './trace.ts';

export const requestsOf =
  (instruments: Instruments): Telemetry['request'] =>
  async (request, run) => {
    const { method, meta, headers } = request;
    const ambient = context.active();
    const said =
      (meta && contextIn((key) => meta[key], ambient)) ?? (headers && contextIn((key) => headers.get(key), ambient));
    const around = trace.getSpanContext(ambient);
    const { name, uri } = targetOf(method, request.params);
    const common: Attributes = {
      [names.MCP_METHOD]: method,
      [names.ATTR_NETWORK_TRANSPORT]: request.transport,
      ...(request.revision !== undefined && { [names.MCP_REVISION]: request.revision }),
    };
    const span = instruments.tracer.startSpan(
      method,
      {
        kind: SpanKind.SERVER,
        attributes: { ...common, ...detailsOf(request, instruments.uriOf(uri)), ...namedAs(method, name) },
        // The HTTP request that it came in, where that is traced too.
        ...(said !== undefined && around !== undefined && { links: [{ context: around }] }),
      },
      said ?? ambient,
    );
    const count: SpanCount = { begun: 0, leftOut: 0 };
    const within = new SpanTrace(instruments, trace.setSpan(said ?? ambient, span), count);
    const from = performance.now();
    const end = (error: string | undefined, code?: number): void => {
      const ended = {
        ...(error !== undefined && { [names.ATTR_ERROR_TYPE]: error }),
        ...(code !== undefined && { [names.STATUS_CODE]: String(code) }),
      };
      // A name that nothing has would be a kind of span of its own.
      const counted = name === undefined ? undefined : instruments.counted(name, code === undefined);
      if (counted !== undefined && counted !== names.OTHER) span.updateName(`${method} ${nameOf(counted)}`);
      if (count.leftOut > 0) span.setAttribute(names.LEFT_OUT, count.leftOut);
      span.setAttributes(ended);
      // Without a description: a message may have data in it.
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      const seconds = (performance.now() - from) / 1_000;
      instruments.served.record(seconds, { ...common, ...namedAs(method, counted), ...ended });
    };
    try {
      const result = await context.with(within.context, () => run(within));
      end(isToolError(result) ? 'tool_error' : undefined);
      return result;
    } catch (error) {
      const { code } = toWireError(error, request.requestId, request.era);
      end(String(code), code);
      throw error;
    }
  };

function detailsOf({ id, requestId, session }: IncomingRequest, uri: string | undefined): Attributes {
  return {
    [names.REQUEST_ID]: requestId,
    ...(id !== undefined && { [names.JSONRPC_ID]: nameOf(String(id)) }),
    ...(session !== undefined && { [names.MCP_SESSION]: session }),
    ...(uri !== undefined && { [names.MCP_URI]: uri }),
  };
}

/** Returns the name and the URI that a request is about. Nothing else of its parameters is looked at. */
function targetOf(method: string, params: unknown): { readonly name?: string; readonly uri?: string } {
  if (typeof params !== 'object' || params === null) return {};
  const from = method === 'completion/complete' && 'ref' in params ? params.ref : params;
  if (typeof from !== 'object' || from === null) return {};
  const { name, uri } = from as { readonly name?: unknown; readonly uri?: unknown };
  return { ...(typeof name === 'string' && { name }), ...(typeof uri === 'string' && { uri }) };
}
