/** The one place where requests of clients pass by telemetry, on every path. Without telemetry nothing passes here. */
import type { Invocation } from '../core/invocation.ts';
import type { Telemetry } from '../core/telemetry.ts';
import type { NetworkTransport } from '../core/trace.ts';
import type { Method } from './methods.ts';

/** What is known of the message, beside what was asked. */
export interface Message {
  readonly id: string | number | undefined;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** Of the HTTP request that it came in. */
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly transport: NetworkTransport;
  readonly revision: string | undefined;
  /** Of a 2025-era connection. */
  readonly session: string | undefined;
  /** Failures after which the request is run in another way. */
  readonly goesOn?: ((error: unknown) => boolean) | undefined;
}

/** Runs a method with what it does as a part of a trace. */
export const runObserved = (
  telemetry: Telemetry,
  { name, run }: Method,
  params: unknown,
  invocation: Invocation,
  message: Message,
): Promise<object> =>
  telemetry.request({ ...message, method: name, requestId: invocation.requestId, params }, (trace) =>
    run(params, { ...invocation, trace }),
  );

/** A plain request of 2026-07-28, over HTTP. */
export function plainMessage({ headers }: Request, parsed: unknown, goesOn?: Message['goesOn']): Message {
  const { id, params } = parsed as {
    readonly id: string | number;
    readonly params: { readonly _meta: Readonly<Record<string, unknown>> };
  };
  const { _meta: meta } = params;
  return { id, meta, headers, transport: 'tcp', revision: '2026-07-28', session: undefined, goesOn };
}
