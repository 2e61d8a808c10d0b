/** Exchanges the doctor's messages with a program over stdio, and counts the lines that are no messages. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import type { StdioTarget } from '../../../client/node/index.ts';
import { seenIn } from '../../../connection/seen.ts';
import { inTime, LATE } from '../../../core/waiting/in-time.ts';
import { type Data, isData } from '../../../protocol/data.ts';
import {
  ACKNOWLEDGED,
  type Answer,
  answerIn,
  answerTo,
  type Era,
  inEra,
  MAX_MESSAGE_BYTES,
  type Notice,
  none,
  type Wire,
} from './wire.ts';

/** A connection to a program that was started. */
export interface StdioWire extends Wire {
  readonly transport: 'stdio';
  /** Lines on standard output that are no messages: the beginning of the first one, and their number. */
  readonly impure: { readonly first: string | undefined; readonly count: number };
  /** Whether the program is still running. */
  readonly alive: boolean;
  write(line: string): void;
  /** Closes the program's standard input. @returns whether the program ends by itself within the time */
  end(timeoutMs: number): Promise<boolean>;
  /** Returns the end of the program's error output. */
  said(): string;
}

/** Milliseconds that the program has to end, after its input is closed and after each signal. */
const GRACE_MS = 2_000;

/** The most characters of the error output that are kept. */
const MAX_ERROR_OUTPUT = 4_096;

/** The environment variables that a program inherits from this process. Hosts pass on the same ones. */
const INHERITED =
  process.platform === 'win32'
    ? ['APPDATA', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PROCESSOR_ARCHITECTURE', 'PROGRAMFILES'].concat([
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ])
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

/** Starts a program. @param timeoutMs the milliseconds for one answer */
export function openStdio(target: StdioTarget, era: Era, timeoutMs: number): StdioWire {
  const inherited = Object.fromEntries(INHERITED.map((name) => [name, process.env[name]]));
  // The child has no pipes if the doctor has too many open files. The error then follows as an event.
  const child: ChildProcess = spawn(target.command, [...(target.args ?? [])], {
    cwd: target.cwd ?? process.cwd(),
    env: { HOME: homedir(), ...inherited, ...target.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
  });
  const pending = new Map<string | number, (answer: Answer) => void>();
  const listeners = new Set<(notice: Notice) => void>();
  let impure = 0;
  let first: string | undefined;
  let errorOutput = '';
  let failure: string | undefined;
  let parts: Buffer[] = [];
  let held = 0;
  let nextId = 1;

  const fail = (why: string): void => {
    failure ??= why;
    for (const settle of [...pending.values()]) settle(none(failure));
  };
  child.stdin?.on('error', () => {});
  child.on('error', (error) => fail(`The program cannot be started: ${seenIn(error) ?? error.message}`));
  const closed = once(child, 'close').then(
    ([code, signal]) => fail(`The program has ended with ${signal ?? code}`),
    () => {},
  );
  child.stderr?.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-MAX_ERROR_OUTPUT);
    target.onStderr?.(chunk.toString());
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at));
      from = at + 1;
      take(Buffer.concat(parts).toString('utf8'));
      parts = [];
      held = 0;
    }
    parts.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held <= MAX_MESSAGE_BYTES) return;
    fail(`The program sent a line of more than ${MAX_MESSAGE_BYTES} bytes`);
    child.kill('SIGKILL');
  });

  const write = (line: string): void => {
    if (child.stdin?.writable) child.stdin.write(`${line}\n`);
  };
  const send = (message: Data): void => write(JSON.stringify({ jsonrpc: '2.0', ...message }));

  function take(line: string): void {
    if (line.trim() === '') return;
    const messages = messagesIn(line);
    if (messages === undefined) {
      impure++;
      first ??= line.slice(0, 200);
      return;
    }
    for (const message of messages) {
      const { id, method, params } = message;
      if (typeof method === 'string' && id !== undefined) write(JSON.stringify(answerTo(id, method)));
      else if (typeof method === 'string') {
        for (const listener of listeners) listener({ method, params: isData(params) ? params : {} });
      } else if (typeof id === 'string' || typeof id === 'number') pending.get(id)?.(answerIn(message) ?? none('?'));
    }
  }

  /**
   * Waits for the answer to a request.
   * @param listen may settle the request by another message; returns a function that ends the listening
   */
  function wait(id: string | number, ms: number, listen: (settle: (answer: Answer) => void) => () => void) {
    return new Promise<Answer>((resolve) => {
      const settle = (answer: Answer): void => {
        clearTimeout(timer);
        pending.delete(id);
        forget();
        resolve(answer);
      };
      const timer = setTimeout(() => settle(none(`There was no answer in ${ms / 1_000} s`)), ms);
      pending.set(id, settle);
      const forget = listen(settle);
      if (failure !== undefined) settle(none(failure));
    });
  }

  return {
    era,
    transport: 'stdio',
    get impure() {
      return { first, count: impure };
    },
    get alive() {
      return failure === undefined;
    },
    said: () => errorOutput,
    write,
    ask(method, params, { id = nextId++, timeoutMs: ms = timeoutMs, meta } = {}) {
      const answer = wait(id, ms, () => () => {});
      send({ id, method, params: inEra(era, params, meta) });
      return answer;
    },
    async notify(method, params) {
      send({ method, params: inEra(era, params, undefined) });
    },
    async listen(params) {
      const id = nextId++;
      const answer = wait(id, timeoutMs, (settle) => {
        const listener = (notice: Notice): void => {
          if (notice.method === ACKNOWLEDGED) settle({ kind: 'result', result: notice.params });
        };
        listeners.add(listener);
        return () => void listeners.delete(listener);
      });
      send({ id, method: 'subscriptions/listen', params: inEra(era, params, undefined) });
      const got = await answer;
      send({ method: 'notifications/cancelled', params: inEra(era, { requestId: id }, undefined) });
      return got;
    },
    async end(ms) {
      child.stdin?.end();
      return (await inTime(closed, ms)) !== LATE;
    },
    async close() {
      child.stdin?.end();
      if ((await inTime(closed, GRACE_MS)) !== LATE) return;
      child.kill('SIGTERM');
      if ((await inTime(closed, GRACE_MS)) !== LATE) return;
      child.kill('SIGKILL');
      // A child process of the program may hold the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      await inTime(closed, GRACE_MS);
    },
  };
}

/** Returns the messages of a line; undefined if anything in it is no message. In revision 2025-03-26 a line may hold a batch. */
function messagesIn(line: string): readonly Data[] | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const all: readonly unknown[] = Array.isArray(value) && value.length > 0 ? value : [value];
    return all.every((message): message is Data => isData(message) && message.jsonrpc === '2.0') ? all : undefined;
  } catch {
    return undefined;
  }
}
