/** Runs one program, without a shell. The program and all that it starts are one process group, and are ended together. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import type { Program } from './programs.ts';

/** Milliseconds that a program has to end after SIGTERM. Then it is killed. */
const GRACE_MS = 500;

/** Milliseconds after a program's end in which its standard error is still read. */
const REST_MS = 200;

/** The last bytes of standard error that are kept for the log. */
const MAX_STDERR_BYTES = 4_096;

/** Whether the operating system has process groups. On Windows, which has none, only the program itself is ended. */
const GROUPS = process.platform !== 'win32';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what the program wrote to standard error, at most `MAX_STDERR_BYTES`. */
  readonly stderr: string;
  /** Why the program could not be started. */
  readonly error?: Error | undefined;
}

export interface Running {
  readonly pid: number | undefined;
  readonly stdout: Readable;
  /** Resolves when the program has ended, its process group was killed, and its output is closed. Never rejects. */
  readonly ended: Promise<Ended>;
  /** Asks the program to end, and kills it if it does not. Output that nobody has read is lost. */
  stop(): void;
}

/** Starts a program. If it cannot be started, `ended` resolves with the error. */
export function startProgram({ argv, cwd, env }: Pick<Program, 'argv' | 'cwd' | 'env'>): Running {
  const [file = '', ...args] = argv;
  let child: ChildProcess;
  try {
    const options = { cwd, env, shell: false, windowsHide: true, detached: GROUPS } as const;
    child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    // `spawn` throws for a NUL in an argument, for example.
    return failed(error as Error);
  }
  const { pid, stdout, stderr } = child;
  // Node.js makes no pipes if the process has too many open files. The error follows as an event.
  if (!stdout || !stderr) return failed(new Promise((resolve) => child.once('error', resolve)));
  let lastStderr = Buffer.alloc(0);
  let error: Error | undefined;
  let timer: NodeJS.Timeout | undefined;
  stdout.on('error', () => {});
  stderr.on('error', () => {});
  stderr.on('data', (chunk: Buffer) => {
    lastStderr = Buffer.concat([lastStderr, chunk]).subarray(-MAX_STDERR_BYTES);
  });
  child.once('exit', () => {
    // Processes that the program has left behind would hold its pipes open and outlive the request, so they are killed.
    if (pid !== undefined) signal(pid, 'SIGKILL');
    // A process that has left the group survives, and may still hold the pipe of standard error.
    setTimeout(() => stderr.destroy(), REST_MS).unref();
  });
  const ended = new Promise<Ended>((resolve) => {
    const end = (code: number | null, name: NodeJS.Signals | null): void => {
      clearTimeout(timer);
      resolve({ code, signal: name, stderr: lastStderr.toString('utf8'), error });
    };
    child.once('error', (cause) => {
      error = cause;
      if (pid === undefined) end(null, null);
    });
    child.once('close', end);
  });
  return {
    pid,
    stdout,
    ended,
    stop() {
      stdout.destroy();
      if (pid === undefined || timer !== undefined || child.exitCode !== null || child.signalCode !== null) return;
      signal(pid, 'SIGTERM');
      timer = setTimeout(() => signal(pid, 'SIGKILL'), GRACE_MS);
    },
  };
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(GROUPS ? -pid : pid, name);
  } catch {
    // The program has already ended.
  }
}

function failed(reason: Error | Promise<Error>): Running {
  const ended = Promise.resolve(reason).then((error) => ({ code: null, signal: null, stderr: '', error }));
  return { pid: undefined, stdout: Readable.from([]), ended, stop() {} };
}
