/** The one place where requests of clients pass by telemetry. Without telemetry nothing passes here. */
import type { Invocation } from '../../core/invocation.ts';
import type { Telemetry } from '../../core/telemetry.ts';
import type { Data } from '../messages.ts';
import type { Envelope } from './envelope.ts';
import type { Method } from './methods.ts';

/** Runs a method with what it does as a part of a trace. */
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
