/** HTTP for an embedding program: a web `Request` in, a web `Response` out. */
import type { HttpEndpoint } from '../../../src/index.ts';
import { createReceiver, type HttpWire, headersOf } from './answer.ts';

/** The status for a request that a web `Request` cannot express. */
export const UNSAYABLE = -1;

export const fetchWire =
  (endpoint: HttpEndpoint): HttpWire =>
  ({ method, path, headers, body }, onEvent) => {
    const receiver = createReceiver(`${method} ${path}`, onEvent);
    const leaving = new AbortController();
    let given = false;

    async function run(): Promise<void> {
      let request: Request;
      try {
        const init = { method, headers: headers.map(([name, value]): [string, string] => [name, value]) };
        request = new Request(new URL(path, 'http://127.0.0.1'), {
          ...init,
          signal: leaving.signal,
          ...(body !== undefined && { body: new Uint8Array(body) }),
        });
      } catch {
        receiver.update({ status: UNSAYABLE, headers: [] }, '');
        receiver.end(false);
        return;
      }
      const response = await endpoint.fetch(request);
      const head = { status: response.status, headers: headersOf(response.headers) };
      receiver.update(head, '');
      let received = Buffer.alloc(0);
      const reader = response.body?.getReader();
      leaving.signal.addEventListener('abort', () => void reader?.cancel().catch(() => {}));
      for (;;) {
        const piece = await reader?.read();
        if (piece === undefined || piece.done) break;
        received = Buffer.concat([received, piece.value]);
        receiver.update(head, received.toString('utf8'));
      }
      receiver.end(given);
    }

    run().catch(() => receiver.end(given));
    return {
      answer: receiver.answer,
      arrived: receiver.arrived,
      hangUp() {
        given = true;
        leaving.abort();
      },
    };
  };
