/**
 * Ids of the requests that a session of the 2025 era has not answered. The SDK's transport finds the way back of an
 * answer by the id alone: of two requests with one id the first would never be answered, and the second with what the
 * first asked for. Ids are unique within a session (2025-11-25, Requests), so the second is refused.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/server';

type Id = string | number;

export interface IdsInUse {
  /**
   * Takes the ids of what is posted. Undefined where one of them is in use, or stands there twice.
   * @returns to be called with what the transport made of it: what it did not take is not in use
   */
  take(posted: unknown): ((taken: boolean) => void) | undefined;
}

/** @param transport whose answers end the use of an id; its `send` is replaced */
export function createIdsInUse(transport: Pick<Transport, 'send'>): IdsInUse {
  const inUse = new Set<Id>();
  const send = transport.send.bind(transport);
  transport.send = async (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    try {
      await send(message, options);
    } finally {
      if (!('method' in message) && message.id !== undefined) inUse.delete(message.id);
    }
  };

  return {
    take(posted) {
      const messages: readonly unknown[] = Array.isArray(posted) ? posted : [posted];
      const ids = messages.flatMap((each) => requestId(each) ?? []);
      if (new Set(ids).size < ids.length || ids.some((id) => inUse.has(id))) return undefined;
      for (const id of ids) inUse.add(id);
      return (taken) => {
        // What is cancelled has no answer.
        for (const id of taken ? messages.flatMap((each) => cancelledId(each) ?? []) : ids) inUse.delete(id);
      };
    },
  };
}

const requestId = (message: unknown): Id | undefined =>
  isObject(message) && 'method' in message ? idOf(message.id) : undefined;

const cancelledId = (message: unknown): Id | undefined =>
  isObject(message) && message.method === 'notifications/cancelled' && isObject(message.params)
    ? idOf(message.params.requestId)
    : undefined;

const idOf = (id: unknown): Id | undefined => (typeof id === 'string' || typeof id === 'number' ? id : undefined);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
