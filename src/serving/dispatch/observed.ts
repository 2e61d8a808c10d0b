/** Passes requests of clients to telemetry. */

import type { Invocation } from '../../core/invocation.ts';
import type { Telemetry } from '../../core/telemetry.ts';
import type { Data } from '../../protocol/data.ts';
import type { Envelope } from './envelope.ts';
import type { Method } from './methods.ts';

/** Runs a method as a part of a trace. */
export function runObserved(
  telemetry: Telemetry,
  { name, run }: Method,
  params: unknown,
  invocation: Invocation,
  { message, era, headers, transport, revision, session }: Envelope,
): Promise<object> {
  const request = {
    method: name,
    id: message.id,
    requestId: invocation.requestId,
    params,
    meta: message.params?._meta as Data | undefined,
    headers,
    transport,
    era,
    revision,
    session,
  };
  return telemetry.request(request, (trace) => run(params, { ...invocation, trace }));
}
