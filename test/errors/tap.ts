/**
 * Sees every JSON-RPC message that reaches this process, or becomes a response in it, however a test sends requests: at sockets and
 * pipes where their data arrives, and at bodies of responses where they are made.
 */
import { Socket } from 'node:net';

/** An error that was sent, or the text of a tool error. */
export type Failure = Readonly<Record<string, unknown>>;

/** The longest line that is checked, in characters: no error is longer. */
const MAX_LINE = 256 * 1024;

let report: (failure: Failure) => void = () => {};
let installed = false;

/** Calls the listener for every failure from now on. It replaces the listener before it. */
export function onFailure(listener: (failure: Failure) => void): void {
  report = listener;
}

/** Installs the tap, once for a process. May be called any number of times. */
export function installTap(): void {
  if (installed) return;
  installed = true;
  const push = Socket.prototype.push;
  const readers = new WeakMap<Socket, (text: string) => void>();
  Socket.prototype.push = function tapped(this: Socket, chunk: unknown, encoding?: BufferEncoding): boolean {
    if (Buffer.isBuffer(chunk) || typeof chunk === 'string') {
      const reader = readers.get(this) ?? createReader();
      readers.set(this, reader);
      reader(chunk.toString('utf8'));
    }
    return push.call(this, chunk, encoding);
  };

  // Not a subclass, because responses are made in many places.
  globalThis.Response = new Proxy(globalThis.Response, {
    construct(original, args: [body?: BodyInit | null, init?: ResponseInit]) {
      if (typeof args[0] === 'string') createReader()(args[0]);
      return new original(...args);
    },
    get(original, key) {
      if (key !== 'json') return Reflect.get(original, key);
      return (data: unknown, init?: ResponseInit) => {
        createReader()(JSON.stringify(data));
        return original.json(data, init);
      };
    },
  });

  const controller = ReadableStreamDefaultController.prototype;
  const enqueue = controller.enqueue;
  controller.enqueue = function tapped(this: ReadableStreamDefaultController, chunk?: unknown): void {
    if (chunk instanceof Uint8Array) createReader()(Buffer.from(chunk).toString('utf8'));
    enqueue.call(this, chunk);
  };
}

/** For a stream that is neither a socket nor a body: the returned function takes the data of the stream. */
export function watchText(): (chunk: Buffer) => void {
  const reader = createReader();
  return (chunk) => reader(chunk.toString('utf8'));
}

/**
 * Takes text in pieces, and checks each line. Checks a last line without a line end, too, as soon as it is a complete message.
 */
function createReader(): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) look(line);
    if (look(rest) || rest.length > MAX_LINE) rest = '';
  };
}

/** Reports the failures in the line. Returns whether the line is a complete message that mentions an error. */
function look(line: string): boolean {
  if (line.length > MAX_LINE || !line.includes('"jsonrpc"') || !/"error"|"isError"/.test(line)) return false;
  try {
    const found: unknown = JSON.parse(
      line.slice(line.search(/[[{]/), Math.max(line.lastIndexOf('}'), line.lastIndexOf(']')) + 1),
    );
    for (const message of Array.isArray(found) ? found : [found]) if (isData(message)) tell(message);
    return true;
  } catch {
    return false;
  }
}

function tell(message: Failure): void {
  if (message.jsonrpc !== '2.0') return;
  const { error, result } = message;
  if (isData(error)) report(error);
  if (isData(result) && result.isError === true) report({ tool: result.content });
}

const isData = (value: unknown): value is Failure =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
