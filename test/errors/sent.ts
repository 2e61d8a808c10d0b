/**
 * Remembers the requests that this process sent during a test: text of a request that comes back is an echo and no leak. A
 * connection whose first bytes are those of an HTTP answer belongs to a server, and is not recorded.
 */
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The most characters that are remembered. If there are more, the older half of the texts is dropped. */
const MAX_KEPT = 32 * 1024 * 1024;

const kept: string[] = [];
let size = 0;
let installed = false;

function keep(text: string): void {
  kept.push(text);
  size += text.length;
  if (size <= MAX_KEPT || kept.length === 1) return;
  // Half of them at once, because dropping one would move all others each time.
  for (const each of kept.splice(0, Math.ceil(kept.length / 2))) size -= each.length;
}

/** Whether the text was sent, unchanged, within JSON, or percent-encoded. */
export function wasSent(fragment: string): boolean {
  const quoted = JSON.stringify(fragment).slice(1, -1);
  return kept.some((text) => [text, decoded(text)].some((form) => form.includes(fragment) || form.includes(quoted)));
}

const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));

/** Forgets everything that was sent so far. */
export function forgetSent(): void {
  kept.length = 0;
  size = 0;
}

/** For a stream that is neither a connection nor a pipe to a program: records what is written to it. */
export const rememberText = (chunk: Buffer): void => keep(chunk.toString('utf8'));

/** Watches connections, pipes to programs, and requests of this process from now on. May be called any number of times. */
export function rememberSent(): void {
  if (installed) return;
  installed = true;
  const answers = new WeakMap<Socket, boolean>();
  Object.defineProperty(Socket.prototype, 'write', {
    configurable: true,
    writable: true,
    value: function write(this: Socket, chunk: unknown, ...rest: [never, never]): boolean {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) {
        const isAnswer = answers.get(this) ?? beginsAnswer(chunk);
        answers.set(this, isAnswer);
        if (!isAnswer) keep(textOf(chunk));
      }
      return Duplex.prototype.write.call(this, chunk, ...rest);
    },
  });
  globalThis.Request = new Proxy(globalThis.Request, {
    construct(original, args: [input: RequestInfo | URL, init?: RequestInit], target) {
      const [input, { body, headers } = {}] = args;
      if (!(input instanceof original)) keep(String(input));
      if (typeof body === 'string' || body instanceof Uint8Array) keep(textOf(body));
      if (headers !== undefined) keep([...new Headers(headers).values()].join('\n'));
      return Reflect.construct(original, args, target) as Request;
    },
  });
}

const beginsAnswer = (chunk: string | Uint8Array): boolean => textOf(chunk.slice(0, 7)).startsWith('HTTP/1.');

const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === 'string' ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('utf8');
