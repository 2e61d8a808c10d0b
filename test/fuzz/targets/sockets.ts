/** Bytes to a port: request lines, headers and bodies that no client library sends. */
import { connect, type Socket } from 'node:net';
import fc, { type Arbitrary } from 'fast-check';
import { within } from '../../e2e/waiting.ts';
import { checkMessage, checkSecrets, cut, Finding } from '../oracles.ts';
import { cursorsOf, type Place } from '../place.ts';
import { asked, bodyOf, type FuzzedRequest, headersOf } from '../requests.ts';
import type { Target } from './target.ts';

interface Bytes {
  readonly asked: FuzzedRequest;
  readonly line: string | undefined;
  readonly headers: readonly string[];
  readonly length:
    | 'right'
    | 'less'
    | 'more'
    | 'none'
    | 'twice'
    | 'chunked'
    | 'both'
    | 'bad-chunks'
    | 'huge'
    | 'negative';
  readonly cutAt: number;
}

const bytes = (place: Place): Arbitrary<Bytes> =>
  fc.record({
    asked: asked(cursorsOf(place)),
    line: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      fc.constantFrom(
        'POST http://evil.example/mcp HTTP/1.1',
        'POST //evil.example/mcp HTTP/1.1',
        'POST /mcp/../healthz HTTP/1.1',
        'GET /../../etc/passwd HTTP/1.1',
        'POST /mcp HTTP/1.0',
        'POST /mcp HTTP/2.0',
        'POST /mcp',
        'FOO /mcp HTTP/1.1',
        'CONNECT evil.example:80 HTTP/1.1',
        'OPTIONS * HTTP/1.1',
        'GET /healthz HTTP/1.1',
        'GET /%00 HTTP/1.1',
        'GET /.well-known/oauth-protected-resource/mcp HTTP/1.1',
        'TRACE /mcp HTTP/1.1',
        'PRI * HTTP/2.0',
        '\u0016\u0003\u0001',
      ),
      fc.string({ maxLength: 40 }),
    ),
    headers: fc.array(
      fc.oneof(
        fc.constantFrom(
          'Host: a',
          'Host: 127.0.0.1',
          'Origin: null',
          'Expect: 100-continue',
          'Expect: x',
          'Upgrade: websocket',
          'Connection: Upgrade',
          'Connection: keep-alive',
          'Transfer-Encoding: chunked',
          'Transfer-Encoding: gzip, chunked',
          ' folded: x',
          'NoColon',
          ': empty',
          'X\u0000: y',
          'X: \u0000',
          `X: ${'x'.repeat(20_000)}`,
          'Content-Type: text/plain',
          'Mcp-Session-Id: \u00ff',
          '__proto__: x',
          'constructor: x',
        ),
        fc.string({ maxLength: 30 }),
      ),
      { maxLength: 3 },
    ),
    length: fc.oneof(
      { weight: 5, arbitrary: fc.constant<Bytes['length']>('right') },
      fc.constantFrom<Bytes['length'][]>(
        'less',
        'more',
        'none',
        'twice',
        'chunked',
        'both',
        'bad-chunks',
        'huge',
        'negative',
      ),
    ),
    cutAt: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.nat({ max: 2_000 })),
  });

export const socketsTarget = (place: Place): Target => ({
  name: 'sockets',
  share: 0.04,
  property: fc.asyncProperty(bytes(place), (it) => send(place, it)),
});

async function send(place: Place, it: Bytes): Promise<void> {
  const whole = written(it);
  const socket = connect({ host: '127.0.0.1', port: place.serving.port, allowHalfOpen: true });
  try {
    const answer = await within(
      answered(socket, it.cutAt === 0 ? whole : whole.subarray(0, it.cutAt)),
      'an answer or the end of a connection',
    );
    check(place, answer, whole.toString('latin1') + bodyOf(it.asked));
  } finally {
    socket.destroy();
  }
}

/** Sends everything, ends, and reads one response, or the part that comes before the end. */
function answered(socket: Socket, sent: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const text = (): string => Buffer.concat(chunks).toString('utf8');
    const done = (): void => resolve(text());
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isWhole(text())) done();
    });
    socket.on('end', done);
    socket.on('close', done);
    socket.on('error', done);
    socket.end(sent);
  });
}

/** Whether a response is complete; of a stream its head is enough. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1 || /^HTTP\/1.1 100/.test(text)) return false;
  const head = text.slice(0, end);
  if (/^content-type: text\/event-stream/im.test(head)) return true;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length !== undefined) return Buffer.byteLength(text.slice(end + 4)) >= Number(length);
  return /^transfer-encoding: chunked/im.test(head) ? text.endsWith('0\r\n\r\n') : false;
}

function written({ asked: it, line, headers, length }: Bytes): Buffer {
  const body = Buffer.from(bodyOf(it));
  const size = body.byteLength;
  const framing: Readonly<Record<Bytes['length'], readonly string[]>> = {
    right: [`Content-Length: ${size}`],
    less: [`Content-Length: ${Math.floor(size / 2)}`],
    more: [`Content-Length: ${size + 10}`],
    none: [],
    twice: [`Content-Length: ${size}`, `Content-Length: ${size + 1}`],
    chunked: ['Transfer-Encoding: chunked'],
    both: [`Content-Length: ${size}`, 'Transfer-Encoding: chunked'],
    'bad-chunks': ['Transfer-Encoding: chunked'],
    huge: ['Content-Length: 99999999999999999999'],
    negative: ['Content-Length: -1'],
  };
  const chunked = framing[length].includes('Transfer-Encoding: chunked');
  const own = [...headersOf(it, undefined)].map(([name, value]) => `${name}: ${value}`);
  const head = [line ?? `${it.method} /mcp HTTP/1.1`, ...own, ...framing[length], ...headers, '', ''].join('\r\n');
  const sent = !chunked
    ? [body]
    : [Buffer.from(`${length === 'bad-chunks' ? 'zz' : size.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')];
  return Buffer.concat([Buffer.from(head, 'latin1'), ...sent]);
}

function check(place: Place, answer: string, said: string): void {
  checkSecrets(place, undefined, answer, said);
  if (answer === '') return;
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
  if (!(status >= 100 && status < 500)) throw new Finding(`answered with ${cut(answer)}`);
  const [head = '', ...rest] = answer.split('\r\n\r\n');
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  // The bytes after this response answer the bytes after the request.
  const body = Buffer.from(rest.join('\r\n\r\n')).subarray(0, length).toString('utf8');
  if (!/^content-type: application\/json/im.test(head) || !body.startsWith('{"jsonrpc"')) return;
  checkMessage(JSON.parse(body), said);
}
