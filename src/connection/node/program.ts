/**
 * Makes a transport to a program that speaks MCP over its standard input and output. The connection ends when the program does,
 * even if a process that it started still holds its pipes; and no process that it started outlives it.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { inTime, LATE } from '../../core/waiting/in-time.ts';
import { createAllowance } from '../allowance.ts';
import { ConnectionFault } from '../faults.ts';
import { mendMessages } from '../handshake.ts';
import { type Intake, MAX_UNREAD_BYTES } from '../intake.ts';
import { addGroup, GROUPS, removeGroup, signal } from './groups.ts';
import { type Messages, readMessages } from './messages.ts';
import { createStderrTail } from './stderr-tail.ts';

/** How many bytes a program may write to standard error. A program that writes more has to wait. */
const STDERR = { burst: 4 * 1024 * 1024, perSecond: 1024 * 1024 } as const;

/** How long a program may take to end after its standard input has ended, after SIGTERM, and after SIGKILL, in milliseconds. */
const LEAVE_MS = 750;
const TERM_MS = 500;
const KILL_MS = 750;

/** How long processes that a program leaves behind may take to end after SIGTERM, in milliseconds. */
const SWEEP_MS = 1_000;

/** How long to wait, after a program's end, for output that it wrote before, in milliseconds. */
const REST_MS = 200;

/** A program that is started without a shell. */
export interface Program {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Added to a small safe part of this process's environment. The rest of that is not passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The folder that it runs in. Default: that of this process. */
  readonly cwd?: string | undefined;
}

export interface ProgramTransport extends Transport {
  /** By `pid` and `stderr` the SDK knows that this transport is one over standard input and output. */
  readonly pid: number | null;
  readonly stderr: null;
  readonly exit: string | undefined;
  readonly odd: string | undefined;
  readonly stderrLine: string | undefined;
  /** Ends the program without waiting for it to end by itself. Its output is not read any more. */
  cut(): void;
}

/** @param wrote called with each piece of standard error; returns the part of it that may be shown if connecting fails */
export function programTransport(
  target: Program,
  intake: Intake,
  wrote: (chunk: Buffer) => string | undefined,
): ProgramTransport {
  let child: ChildProcess | undefined;
  let closing: Promise<void> | undefined;
  let over = false;
  let killed = false;
  let exit: string | undefined;
  let messages: Messages | undefined;
  const stderrTail = createStderrTail();
  let exited: Promise<void> = Promise.resolve();

  const end = (): void => {
    if (over) return;
    over = true;
    transport.onclose?.();
  };

  /** Whether messages of the program are still wanted. */
  const listens = (): boolean => !over && closing === undefined && !intake.over;

  /** Reads standard error as fast as the program may write to it (`STDERR`), and no faster. */
  function readErrors(stderr: Readable): void {
    const allowance = createAllowance(STDERR);
    stderr.on('data', (chunk: Buffer) => {
      if (listens()) stderrTail.add(wrote(chunk) ?? '');
      if (allowance.take(chunk.length)) return;
      stderr.pause();
      setTimeout(() => stderr.resume(), allowance.waitMs(chunk.length)).unref();
    });
  }

  /** Ends the processes that the program started and did not end itself. */
  async function sweep(pid: number): Promise<void> {
    if (!signal(pid, 'SIGTERM')) return;
    for (let waited = 0; waited < SWEEP_MS && !killed; waited += STEP_MS) {
      await after(STEP_MS);
      if (!signal(pid, 0)) return;
    }
    signal(pid, 'SIGKILL');
  }

  const transport: ProgramTransport = {
    stderr: null,
    get exit() {
      return exit;
    },
    get odd() {
      return messages?.odd;
    },
    get stderrLine() {
      return stderrTail.line;
    },
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
        const { stdin, stdout, stderr }: ChildProcess = started;
        const failed = (error: Error): void => transport.onerror?.(error);
        started.once('spawn', resolve);
        started.once('error', (error) => {
          reject(error);
          failed(error);
          if (started.pid === undefined) end();
        });
        // Node.js makes no pipes if the process has too many open files. The error follows as an event.
        if (!stdin || !stdout || !stderr) return;
        stdin.on('error', failed);
        stdout.on('error', failed);
        stderr.on('error', failed);
        messages = readMessages(stdout, intake, transport, listens);
        readErrors(stderr);
        exited = new Promise((done) => {
          if (started.pid === undefined) return done();
          const { pid } = started;
          addGroup(pid);
          started.once('exit', (status, by) => {
            exit = by === null ? `ended with exit status ${status}` : `was ended by ${by}`;
            const swept = sweep(pid);
            const drained = new Promise<void>((all) => started.once('close', () => all()));
            void Promise.race([drained, after(REST_MS)]).then(async () => {
              for (const stream of [stdin, stdout, stderr]) stream.destroy();
              end();
              await swept;
              removeGroup(pid);
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
          reject(new ConnectionFault('ended', 'The program has ended'));
          return;
        }
        if (stdin.writableLength > MAX_UNREAD_BYTES) {
          intake.cut('does not read what is sent to it');
          reject(new ConnectionFault('cut-off', 'does not read what is sent to it'));
          return;
        }
        if ('id' in message && 'method' in message) intake.sent(message.id);
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      });
    },

    cut() {
      if (child === undefined) return;
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) signal(child.pid, 'SIGTERM');
    },

    close() {
      closing ??= (async () => {
        if (child?.pid !== undefined) {
          child.stdin?.end();
          if ((await inTime(exited, LEAVE_MS)) === LATE) {
            signal(child.pid, 'SIGTERM');
            if ((await inTime(exited, TERM_MS)) === LATE) {
              killed = true;
              signal(child.pid, 'SIGKILL');
              // A program that the system cannot kill holds nobody up.
              await inTime(exited, KILL_MS);
            }
          }
        }
        end();
      })();
      return closing;
    },
  };
  return mendMessages(transport);
}

/** How often to check whether left-over processes have ended, in milliseconds: nothing reports their end. */
const STEP_MS = 20;

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
