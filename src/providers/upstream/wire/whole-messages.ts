/**
 * What the SDK's client loses of the messages of a server: the data of errors that it has classes of its own for, of which
 * it keeps what those know, and progress that comes together with the answer, at which it no longer knows of the request.
 */
import {
  isJSONRPCErrorResponse,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND } from '../../../protocol/error-codes.ts';

/** Around the data of an error, so that the SDK takes it for nothing that it knows. */
const WHOLE = 'vitrine/whole';

/** Codes of whose data the SDK keeps a part: a missing resource, a page to be seen first, a client that lacks something. */
const CLASSED: ReadonlySet<number> = new Set([LEGACY_RESOURCE_NOT_FOUND, INVALID_PARAMS, -32_042, -32_021]);

/** Goes between a transport and the client that has connected over it. */
export function keepWhole(transport: Transport): void {
  const deliver = transport.onmessage?.bind(transport);
  let before = Promise.resolve();
  transport.onmessage = (message: JSONRPCMessage, extra?: unknown) => {
    const whole = isJSONRPCErrorResponse(message) ? wrapped(message) : message;
    // The client handles a notification in the turn after it got it: the next message comes after that.
    before = before
      .then(() => deliver?.(whole, extra as never))
      .catch((error: unknown) => transport.onerror?.(error as Error));
  };
}

function wrapped(message: JSONRPCErrorResponse): JSONRPCErrorResponse {
  const { error } = message;
  if (!CLASSED.has(error.code) || error.data === undefined) return message;
  return { ...message, error: { ...error, data: { [WHOLE]: error.data } } };
}

/** The data of an error as the server sent it. */
export function wholeData(data: unknown): unknown {
  return typeof data === 'object' && data !== null && WHOLE in data ? data[WHOLE] : data;
}
