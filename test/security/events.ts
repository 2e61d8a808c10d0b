/** Reads the messages of a `text/event-stream`. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { within } from '../e2e/waiting.ts';

export interface EventStream {
  readonly messages: readonly JSONRPCMessage[];
  /** Resolves with the first message, past or future, that satisfies the condition. */
  until(satisfies: (message: JSONRPCMessage) => boolean, what: string): Promise<JSONRPCMessage>;
  /** Resolves when the server or the client has ended the stream. */
  readonly ended: Promise<void>;
  cancel(): Promise<void>;
}

export function eventsOf(response: Response): EventStream {
  const messages: JSONRPCMessage[] = [];
  const waiting = new Set<() => void>();
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  async function read(): Promise<void> {
    let rest = '';
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
      const events = (rest + next.value).split('\n\n');
      rest = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1];
        if (data !== undefined) messages.push(JSON.parse(data) as JSONRPCMessage);
      }
      for (const check of [...waiting]) check();
    }
  }
  const ended = read().catch(() => {});
  return {
    messages,
    until: (satisfies, what) =>
      within(
        new Promise((resolve) => {
          const check = (): void => {
            const found = messages.find(satisfies);
            if (found === undefined) return;
            waiting.delete(check);
            resolve(found);
          };
          waiting.add(check);
          check();
        }),
        what,
      ),
    ended,
    cancel: async () => reader?.cancel(),
  };
}

/** Whether a message reports an update of a resource. */
export const tellsOf =
  (uri: string) =>
  (message: JSONRPCMessage): boolean =>
    'method' in message && message.method === 'notifications/resources/updated' && message.params?.uri === uri;
