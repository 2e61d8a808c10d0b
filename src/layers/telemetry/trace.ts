/** A place in a trace: what is done within becomes a span below it. */
import { type Attributes, type Context, context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { PeerError, ResourceError } from '../../core/errors.ts';
import type { OutgoingRequest, Trace, TraceMeta } from '../../core/trace.ts';
import { metaOf } from './carrier.ts';
import { type Instruments, nameOf } from './instruments.ts';
import * as names from './names.ts';

/** Spans of operations within one request, and its requests to other servers: a list goes through many. */
const MAX_SPANS = 100;

/** How many spans a request has had, counted over all places in it. */
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

  /** The place of an operation below this one, and its span; undefined where the request has had its spans. */
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

/** Of a tool or a prompt: which of the two says the method. */
export function namedAs(method: string, name: string | undefined): Attributes {
  if (name === undefined) return {};
  if (!method.startsWith('tools/')) return { [names.PROMPT_NAME]: nameOf(name) };
  return { [names.TOOL_NAME]: nameOf(name), [names.OPERATION_NAME]: 'execute_tool' };
}

export const isToolError = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'isError' in result && result.isError === true;

/** Names a failure that has no code of the wire: by one of few names, never by a message. */
export function errorType(error: unknown): string {
  if (error instanceof ResourceError) return error.code;
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : names.OTHER;
}
