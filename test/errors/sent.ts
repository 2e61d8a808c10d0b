/**
 * Remembers what this process sent while a test runs: what comes back of that is an echo and no leak. Clients are told
 * from servers by how a connection begins, so that an answer never counts as something that was asked.
 */
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Characters that are remembered; the older half goes first. */
const MAX_KEPT = 32 * 1024 * 1024;

const kept: string[] = [];
let size = 0;
let installed = false;

function keep(text: string): void {
  kept.push(text);
  size += text.length;
  if (size <= MAX_KEPT || kept.length === 1) return;
  // Half of them at once: one by one would move all the others each time.
  for (const each of kept.splice(0, Math.ceil(kept.length / 2))) size -= each.length;
}

/** Whether the text was sent, as it is, within a JSON text, or with percent signs. */
export function wasSent(fragment: string): boolean {
  const quoted = JSON.stringify(fragment).slice(1, -1);
  return kept.some((text) => [text, decoded(text)].some((form) => form.includes(fragment) || form.includes(quoted)));
}

const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));

/** Forgets what was sent so far. */
export function forgetSent(): void {
  kept.length = 0;
  size = 0;
}

/** For a stream that is neither a connection nor a pipe to a program: give it what goes there. */
export const rememberText = (chunk: Buffer): void => keep(chunk.toString('utf8'));

/** Looks at connections, pipes to programs, and requests that are made here: from now on, however often it is called. */
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
