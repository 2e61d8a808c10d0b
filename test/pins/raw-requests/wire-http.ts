/** HTTP as bytes on a socket: requests are sent unchanged. */
import { connect } from 'node:net';
import { type Answer, createReceiver, type HttpWire, headersOf } from './answer.ts';

const HEAD_END = '\r\n\r\n';

/** @param port of this machine */
export const httpWire =
  (port: number): HttpWire =>
  ({ method, path, headers, body }, onEvent) => {
    const receiver = createReceiver(`${method} ${path}`, onEvent);
    const socket = connect(port, '127.0.0.1');
    const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const read = answerIn(received);
      if (read === undefined) return;
      receiver.update(read.answer, read.answer.body);
      // The answer to HEAD has no body, whatever its length says. It ends with the connection.
      if (!read.whole) return;
      receiver.end(false);
      socket.destroy();
    });
    // A server that refuses a request may close the connection while the rest is being sent.
    socket.on('error', () => {});
    let given = false;
    socket.on('close', () => receiver.end(given));
    socket.write(Buffer.concat([Buffer.from(lines.join('\r\n') + HEAD_END, 'latin1'), body ?? Buffer.alloc(0)]));
    return {
      answer: receiver.answer,
      arrived: receiver.arrived,
      hangUp() {
        given = true;
        socket.destroy();
      },
    };
  };

/** Gives the answer so far, and whether it is complete; undefined before the head is complete. */
function answerIn(
  received: Buffer,
): { readonly answer: Pick<Answer, 'status' | 'headers' | 'body'>; whole: boolean } | undefined {
  const end = received.indexOf(HEAD_END);
  if (end === -1) return undefined;
  const [start = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const headers = headersOf(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const rest = received.subarray(end + HEAD_END.length);
  const status = Number(start.split(' ')[1]);
  // The first answer only says that the rest may be sent.
  if (status < 200) return answerIn(rest);
  const headerOf = (wanted: string): string | undefined => headers.find(([name]) => name === wanted)?.[1];
  const length = headerOf('content-length');
  const { bytes, whole } =
    headerOf('transfer-encoding') === 'chunked'
      ? unchunked(rest)
      : { bytes: rest, whole: length !== undefined && rest.length >= Number(length) };
  return { answer: { status, headers, body: bytes.toString('utf8') }, whole };
}

/** The chunks so far, and whether the last one has come. */
function unchunked(body: Buffer): { readonly bytes: Buffer; readonly whole: boolean } {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size = end === -1 ? Number.NaN : Number.parseInt(body.subarray(at, end).toString('latin1'), 16);
    const start = end + 2;
    if (!(size > 0) || start + size > body.length) return { bytes: Buffer.concat(chunks), whole: size === 0 };
    chunks.push(body.subarray(start, start + size));
    at = start + size + 2;
  }
}
