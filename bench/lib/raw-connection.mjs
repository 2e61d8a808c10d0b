/**
 * One keep-alive HTTP/1.1 connection that sends the same prepared bytes again and again. A generator made of a full
 * HTTP client would be slower than the fastest of the servers it measures, and every ratio would come out too kind.
 */
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/**
 * @param {string} url
 * @param {{headers: Record<string, string>, body: string}} request
 */
export async function rawConnection(url, request) {
  const { hostname, port, host, pathname } = new URL(url);
  const headers = { Host: host, Connection: 'keep-alive', ...request.headers };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(
    `POST ${pathname} HTTP/1.1\r\n${head.join('')}Content-Length: ${Buffer.byteLength(request.body)}\r\n\r\n${request.body}`,
  );
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });

  /** @type {Buffer | undefined} */
  let received;
  /** @type {((size: number) => void) | undefined} */
  let done;
  /** @type {((error: Error) => void) | undefined} */
  let failed;
  socket.on('data', (chunk) => {
    received = received === undefined ? chunk : Buffer.concat([received, chunk]);
    const size = completeSize(received);
    if (size === undefined) return;
    const answer = received;
    received = undefined;
    if (size < 0) failed?.(new Error(`not answered with 200: ${answer.toString('utf8')}`));
    else done?.(size);
  });
  let closed = false;
  socket.on('close', () => {
    closed = true;
    failed?.(new Error('the connection was closed'));
  });
  socket.on('error', (error) => failed?.(error));

  return {
    /**
     * Sends the request and resolves with the size of the answer in bytes.
     * @returns {Promise<number>}
     */
    send: () =>
      new Promise((resolve, reject) => {
        done = resolve;
        failed = reject;
        if (closed) reject(new Error('the connection was closed while it was idle'));
        else socket.write(bytes);
      }),
    close() {
      failed = undefined;
      socket.destroy();
    },
  };
}

/**
 * The bytes of a complete answer, undefined while it is incomplete, and -1 when it is no success. Nothing is pipelined,
 * so that an answer ends where the received bytes do.
 * @param {Buffer} received
 */
function completeSize(received) {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  const complete =
    length === undefined
      ? received.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      : received.length >= headEnd + HEAD_END.length + Number(length);
  if (!complete) return undefined;
  return head.startsWith('HTTP/1.1 200') ? received.length : -1;
}
