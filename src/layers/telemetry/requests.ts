/** Makes a span of kind server for each request of a client, and measures it. */
import { type Attributes, context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { toWireError } from '../../core/errors.ts';
import type { IncomingRequest, Telemetry } from '../../core/telemetry.ts';
import { contextIn } from './carrier.ts';
import { type Instruments, nameOf } from './instruments.ts';
import * as names from './names.ts';
import { isToolError, namedAs, type SpanCount, SpanTrace } from './trace.ts';

export function requestsOf(instruments: Instruments): Telemetry['request'] {
  const running = instruments.meter.createUpDownCounter('vitrine.requests', {
    unit: '{request}',
    description: 'Requests that are running now',
  });
  return async (request, run) => {
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
        // Links to the span of the HTTP request, if that is traced too.
        ...(said !== undefined && around !== undefined && { links: [{ context: around }] }),
      },
      said ?? ambient,
    );
    const count: SpanCount = { begun: 0, leftOut: 0 };
    const within = new SpanTrace(instruments, trace.setSpan(said ?? ambient, span), count);
    const from = performance.now();
    const carried = { [names.ATTR_NETWORK_TRANSPORT]: request.transport };
    running.add(1, carried);
    const end = (error: string | undefined, code?: number): void => {
      running.add(-1, carried);
      const ended = {
        ...(error !== undefined && { [names.ATTR_ERROR_TYPE]: error }),
        ...(code !== undefined && { [names.STATUS_CODE]: String(code) }),
      };
      // Made-up names from clients do not become names of spans.
      const counted = name === undefined ? undefined : instruments.counted(name, code === undefined);
      if (counted !== undefined && counted !== names.OTHER) span.updateName(`${method} ${nameOf(counted)}`);
      if (count.leftOut > 0) span.setAttribute(names.LEFT_OUT, count.leftOut);
      span.setAttributes(ended);
      // No description: the message of an error may contain data.
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
}

function detailsOf({ id, requestId, session }: IncomingRequest, uri: string | undefined): Attributes {
  return {
    [names.REQUEST_ID]: requestId,
    ...(id !== undefined && { [names.JSONRPC_ID]: nameOf(String(id)) }),
    ...(session !== undefined && { [names.MCP_SESSION]: session }),
    ...(uri !== undefined && { [names.MCP_URI]: uri }),
  };
}

/** Returns the name and the URI in the parameters of a request; spans record no other parameters. */
function targetOf(method: string, params: unknown): { readonly name?: string; readonly uri?: string } {
  if (typeof params !== 'object' || params === null) return {};
  const from = method === 'completion/complete' && 'ref' in params ? params.ref : params;
  if (typeof from !== 'object' || from === null) return {};
  const { name, uri } = from as { readonly name?: unknown; readonly uri?: unknown };
  return { ...(typeof name === 'string' && { name }), ...(typeof uri === 'string' && { uri }) };
}
