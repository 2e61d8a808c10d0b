/** A place in a trace: operations that run in it become spans below it. */
import { type Attributes, type Context, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { PeerError, ResourceError } from '../../core/errors.ts';
import type { OutgoingRequest, Trace, TraceMeta } from '../../core/trace.ts';
import { metaOf } from './carrier.ts';
import { type Instruments, nameOf } from './instruments.ts';
import * as names from './names.ts';

/** The most spans of one request, for its operations and for its requests to other servers: a list may need many. */
const MAX_SPANS = 100;

/** The number of spans of a request so far, over all places in it. */
export interface SpanCount {
  begun: number;
  leftOut: number;
}

export class SpanTrace implements Trace {
  readonly #instruments: Instruments;
  readonly #count: SpanCount;
  readonly context: Context;

  constructor(instruments: Instruments, within: Context, count: SpanCount = { begun: 0, leftOut: 0 }) {
    this.#instruments = instruments;
    this.context = within;
    this.#count = count;
  }

  /** Begins a span below this place, with its own place; undefined where the request has used up its spans. */
  begin(name: string, kind: SpanKind, attributes: Attributes): { span: Span; trace: SpanTrace } | undefined {
    if (this.#count.begun >= MAX_SPANS) {
      this.#count.leftOut++;
      return undefined;
    }
    this.#count.begun++;
    const span = this.#instruments.tracer.startSpan(name, { kind, attributes }, this.context);
    const within = new SpanTrace(this.#instruments, trace.setSpan(this.context, span), this.#count);
    return { span, trace: within };
  }

  async outgoing<T>(request: OutgoingRequest, run: (meta: TraceMeta) => Promise<T>): Promise<T> {
    const { uriOf, counted, asked } = this.#instruments;
    const { method, name, mount, transport } = request;
    const uri = uriOf(request.uri);
    const common = { [names.MCP_METHOD]: method, [names.MOUNT]: mount, [names.ATTR_NETWORK_TRANSPORT]: transport };
    const begun = this.begin(name === undefined ? method : `${method} ${nameOf(name)}`, SpanKind.CLIENT, {
      ...common,
      ...namedAs(method, name),
      ...(uri !== undefined && { [names.MCP_URI]: uri }),
    });
    const within = begun?.trace.context ?? this.context;
    const from = performance.now();
    const end = (error: string | undefined, code?: number): void => {
      const ended = {
        ...(error !== undefined && { [names.ATTR_ERROR_TYPE]: error }),
        ...(code !== undefined && { [names.STATUS_CODE]: String(code) }),
      };
      begun?.span.setAttributes(ended);
      if (error !== undefined) begun?.span.setStatus({ code: SpanStatusCode.ERROR });
      begun?.span.end();
      const known = name === undefined ? undefined : counted(`${mount}+${name}`, code === undefined);
      const spoken = known === undefined || known === names.OTHER ? known : name;
      asked.record((performance.now() - from) / 1_000, { ...common, ...namedAs(method, spoken), ...ended });
    };
    try {
      const result = await context.with(within, () => run(metaOf(within)));
      end(isToolError(result) ? 'tool_error' : undefined);
      return result;
    } catch (error) {
      if (error instanceof PeerError) end(String(error.wire.code), error.wire.code);
      else end(errorType(error));
      throw error;
    }
  }
}

/** Returns attributes that name a tool or a prompt; the method tells which it is. */
export function namedAs(method: string, name: string | undefined): Attributes {
  if (name === undefined) return {};
  if (!method.startsWith('tools/')) return { [names.PROMPT_NAME]: nameOf(name) };
  return { [names.TOOL_NAME]: nameOf(name), [names.OPERATION_NAME]: 'execute_tool' };
}

export const isToolError = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'isError' in result && result.isError === true;

/** Returns the type of a failure without an error code of the wire: one of a few names, never a message. */
export function errorType(error: unknown): string {
  if (error instanceof ResourceError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : names.OTHER;
}
