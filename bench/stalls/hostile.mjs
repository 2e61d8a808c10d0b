/** A web server that answers with whatever a case has set. */
import { once } from 'node:events';
import { createServer } from 'node:http';

/** @typedef {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} Answer */
/** @typedef {{origin: string, on(path: string, answer: Answer | {body: string | Buffer, type: string}): void, close(): Promise<void>}} Hostile */

/** @returns {Promise<Hostile>} */
export async function startHostile() {
  /** @type {Map<string, Answer>} */
  const answers = new Map();
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const answer = answers.get(path) ?? answers.get(`/${path.split('/')[1]}`);
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    origin: `http://127.0.0.1:${port}`,
    on(path, answer) {
      const own = typeof answer === 'function' ? answer : sending(answer);
      answers.set(path, own);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @returns {Answer} */
const sending =
  ({ body, type }) =>
  (request, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };

/** A text again and again, to about a size. */
export const filled = (bytes, text) => text.repeat(Math.max(1, Math.floor(bytes / text.length)));

/** As many texts as fit a size, each made of its number. */
export function numbered(bytes, make) {
  const parts = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const part = make(at);
    parts.push(part);
    length += part.length;
  }
  return parts.join('');
}
