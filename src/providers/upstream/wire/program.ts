/**
 * A program that speaks MCP over its standard input and output, as a transport. The connection ends when the program
 * does, even where something that it started still holds its pipes; and nothing that it started outlives it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { ResourceError } from '../../../core/errors.ts';
import type { StdioTarget } from '../options.ts';

/** Bytes of one message. What is longer ends the connection. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** How long a program may take to end by itself, and again after it was told to, in milliseconds. */
const GRACE_MS = 1_000;

/** How long is waited, after a program's end, for what it wrote before, in milliseconds. */
const REST_MS = 200;

/** Where process groups are: a program and all that it starts can be told to end together. */
const GROUPS = process.platform !== 'win32';

export interface ProgramTransport extends Transport {
  /** Beside `stderr`, what tells the SDK that this is standard input and output. */
  readonly pid: number | null;
  readonly stderr: null;
}

/** @param wrote takes what the program writes to standard error */
export function programTransport(target: StdioTarget, wrote: (chunk: Buffer) => void): ProgramTransport {
  let child: ChildProcess | undefined;
  let closing: Promise<void> | undefined;
  let over = false;
  let exited: Promise<void> = Promise.resolve();

  const end = (): void => {
    if (over) return;
    over = true;
    transport.onclose?.();
  };
  const messages = messagesOf(
    (line) => {
      if (!over) deliver(line);
    },
    () => {
      transport.onerror?.(new Error(`A message of more than ${MAX_MESSAGE_BYTES} bytes`));
      void transport.close();
    },
  );

  function deliver(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch (error) {
      // Some programs write other things to their standard output, too.
      transport.onerror?.(new Error('A line that is no message', { cause: error }));
      return;
    }
    transport.onmessage?.(message);
  }

  /** What it started and did not end itself. */
  async function sweep(pid: number): Promise<void> {
    if (!signal(pid, 'SIGTERM')) return;
    for (let waited = 0; waited < GRACE_MS; waited += STEP_MS) {
      await after(STEP_MS);
      if (!signal(pid, 0)) return;
    }
    signal(pid, 'SIGKILL');
  }

  const transport: ProgramTransport = {
    stderr: null,
    get pid() {
      return child?.pid ?? null;
    },

    start() {
      return new Promise<void>((resolve, reject) => {
        const started = spawn(target.command, [...(target.args ?? [])], {
          env: { ...getDefaultEnvironment(), ...target.env },
          stdio: ['pipe', 'pipe', 'pipe'],
          shell: false,
          windowsHide: true,
          detached: GROUPS,
          ...(target.cwd !== undefined && { cwd: target.cwd }),
        });
        child = started;
        const { stdin, stdout, stderr } = started;
        const failed = (error: Error): void => transport.onerror?.(error);
        started.once('spawn', resolve);
        started.once('error', (error) => {
          reject(error);
          failed(error);
          if (started.pid === undefined) end();
        });
        stdin.on('error', failed);
        stdout.on('error', failed);
        stderr.on('error', failed);
        stdout.on('data', messages);
        stderr.on('data', wrote);
        exited = new Promise((done) => {
          if (started.pid === undefined) return done();
          const { pid } = started;
          started.once('exit', () => {
            const swept = sweep(pid);
            const drained = new Promise<void>((all) => started.once('close', () => all()));
            void Promise.race([drained, after(REST_MS)]).then(async () => {
              for (const stream of [stdin, stdout, stderr]) stream.destroy();
              end();
              await swept;
              done();
            });
          });
        });
      });
    },

    send(message) {
      return new Promise<void>((resolve, reject) => {
        const stdin = child?.stdin;
        if (over || closing !== undefined || stdin == null || !stdin.writable) {
          reject(new ResourceError('unavailable', 'The program has ended'));
          return;
        }
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      });
    },

    close() {
      closing ??= (async () => {
        if (child?.pid !== undefined) {
          child.stdin?.end();
          if (!(await within(exited))) {
            signal(child.pid, 'SIGTERM');
            if (!(await within(exited))) signal(child.pid, 'SIGKILL');
          }
          await exited;
        }
        end();
      })();
      return closing;
    },
  };
  return transport;
}

/** How often it is looked whether something has ended that sends no word of it, in milliseconds. */
const STEP_MS = 20;

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether it came in time. */
async function within(work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), GRACE_MS);
  });
  const came = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return came;
}

/** Signals a program and all that it started; whether there was anything to signal. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(GROUPS ? -pid : pid, name);
    return true;
  } catch {
    return false;
  }
}

/** Lines out of chunks; a line may lie in many of them. */
function messagesOf(each: (line: string) => void, tooLong: () => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, at)]).toString('utf8');
      parts = [];
      length = 0;
      from = at + 1;
      if (line.trim() !== '') each(line);
    }
    const rest = chunk.subarray(from);
    length += rest.length;
    if (length > MAX_MESSAGE_BYTES) {
      parts = [];
      length = 0;
      tooLong();
    } else if (rest.length > 0) parts.push(rest);
  };
}

const NEWLINE = 0x0a;
