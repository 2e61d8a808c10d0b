/**
 * Runs statements in processes that have one database open. If a statement takes too long, or its caller leaves, its process is
 * ended; the next statement starts another one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { ResourceError } from '../../../core/errors.ts';
import type { FairQueue } from '../../../core/waiting/fair-queue.ts';
import type { Limits, Rows, Statement, Value } from '../dialect.ts';
import { type Fault, faultOf } from './fault.ts';
import { PROGRAM } from './program.ts';

/** Milliseconds that a statement may still take after its caller has left. Then its process is ended. */
const GRACE_MS = 200;

/** Milliseconds that a process may take to start. */
const START_MS = 30_000;

/** Milliseconds between the end of the process that looked for changes and the start of another one. */
const RESTART_MS = 500;

/** The most characters of the standard error of a process that are kept for the log. */
const MAX_STDERR_CHARACTERS = 2_000;

export interface ProcessOptions {
  /** The path of the package that reads SQLite. */
  readonly library: string;
  readonly file: string;
  /** Decides which caller gets a process. At most as many statements run at a time as the queue has places. */
  readonly queue: FairQueue;
}

export interface Processes {
  run(statement: Statement, limits: Limits): Promise<Rows>;
  /**
   * Looks for changes every `everyMs` milliseconds. Calls `tell` for each commit by another program, and when
   * another process had to take over the watch.
   */
  watch(everyMs: number, tell: () => void): Promise<AsyncDisposable>;
  /** Makes later statements open the file again. Running statements finish on the old file. */
  renew(): void;
  close(): Promise<void>;
}

interface Job {
  readonly statement: Statement;
  readonly limits: Limits;
  /** Frees the place in the queue, so that another statement may run. */
  readonly release: () => void;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

/** A running process. */
interface Reader {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  job: Job | undefined;
  /** The rows of the job's result that have arrived. */
  rows: Value[][];
  timer: NodeJS.Timeout | undefined;
  /** Whether the process has the old file open, and so takes no further job. */
  stale: boolean;
}

/** A message from a process. */
interface Message {
  readonly ready?: true;
  readonly changed?: true;
  readonly watching?: number;
  /** Rows of a result; more messages follow. */
  readonly part?: Value[][];
  /** The end of a result, with its last rows. */
  readonly result?: Omit<Rows, 'rows'> & { readonly rows: Value[][] };
  readonly error?: Fault;
}

const lost = (cause?: unknown): ResourceError =>
  new ResourceError('unavailable', 'The process that reads the database has ended', { cause });

export function createProcesses({ library, file, queue }: ProcessOptions): Processes {
  const readers = new Set<Reader>();
  /** Ends of processes that were killed. */
  const ending = new Set<Promise<void>>();
  /** The watch. `begun` is called when a process looks for changes for the first time; from then on it is undefined. */
  let watching: { readonly everyMs: number; readonly tell: () => void; begun: (() => void) | undefined } | undefined;
  let watcher: Reader | undefined;
  let closed = false;

  function start(): Reader {
    const child = spawn(process.execPath, ['-e', PROGRAM, library, file], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      env: process.env.SystemRoot === undefined ? {} : { SystemRoot: process.env.SystemRoot },
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
    });
    const exited = new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    });
    const reader: Reader = { child, exited, job: undefined, rows: [], timer: undefined, stale: false };
    readers.add(reader);
    const deadline = setTimeout(() => end(reader, lost(new Error('It did not begin in time'))), START_MS).unref();
    child.on('message', (message: Message) => {
      clearTimeout(deadline);
      receive(reader, message);
    });
    child.on('error', (error) => end(reader, lost(error)));
    child.on('exit', (code, signal) => {
      clearTimeout(deadline);
      end(reader, lost(new Error(`It ended with ${signal ?? code}. ${stderr}`)));
    });
    updateHold(reader);
    return reader;
  }

  function receive(reader: Reader, { changed, watching: everyMs, part, result, error }: Message): void {
    if (changed && reader === watcher) watching?.tell();
    if (everyMs !== undefined && reader === watcher && watching !== undefined) {
      // A process that replaces another one reports a change, since neither of the two saw the changes in between.
      (watching.begun ?? watching.tell)();
      watching.begun = undefined;
      updateHold(reader);
    }
    const { job } = reader;
    if (part !== undefined) reader.rows.push(...part);
    if (job === undefined || (result === undefined && error === undefined)) return;
    const { rows } = reader;
    reader.rows = [];
    reader.job = undefined;
    clearTimeout(reader.timer);
    if (result !== undefined) job.resolve(rows.length === 0 ? result : { ...result, rows: [...rows, ...result.rows] });
    else if (error !== undefined) job.reject(faultOf(error));
    if (reader.stale) end(reader, lost());
    else updateHold(reader);
    job.release();
  }

  /** Keeps this program running only while it waits for an answer of the process. */
  function updateHold(reader: Reader): void {
    hold(reader.child, reader.job !== undefined || (reader === watcher && watching?.begun !== undefined));
  }

  function end(reader: Reader, error: unknown): void {
    if (!readers.delete(reader)) return;
    clearTimeout(reader.timer);
    // `close` waits for the process to exit, and nothing else may keep this program running until then.
    hold(reader.child, true);
    ending.add(reader.exited);
    void reader.exited.then(() => ending.delete(reader.exited));
    reader.child.kill('SIGKILL');
    const { job } = reader;
    reader.job = undefined;
    job?.reject(error);
    if (reader === watcher) {
      watcher = undefined;
      setTimeout(beginWatching, RESTART_MS).unref();
    }
    job?.release();
  }

  /** Starts a process. Undefined if the system refuses that at once; it may also refuse with the event `error`. */
  function tryStart(refused: (error: unknown) => void): Reader | undefined {
    try {
      return start();
    } catch (error) {
      refused(lost(error));
      return undefined;
    }
  }

  function assign(job: Job): void {
    const idle = [...readers].find(({ job: current, stale }) => current === undefined && !stale);
    const reader = idle ?? tryStart(job.reject);
    if (reader === undefined) {
      job.release();
      return;
    }
    reader.job = job;
    updateHold(reader);
    reader.timer = setTimeout(
      () => end(reader, new ResourceError('timeout', 'The database took too long; ask for less')),
      job.limits.timeoutMs,
    );
    const { statement, limits } = job;
    const { maxRows, maxBytes, maxValueBytes } = limits;
    send(reader.child, { ...statement, maxRows, maxBytes, maxValueBytes }, (error) => {
      if (error !== null) end(reader, lost(error));
    });
  }

  /** Gives a statement whose caller has left a moment to end, because starting another process takes longer. */
  function abandon(job: Job): void {
    const reader = [...readers].find((candidate) => candidate.job === job);
    if (reader === undefined) return;
    clearTimeout(reader.timer);
    reader.timer = setTimeout(() => end(reader, lost()), GRACE_MS);
  }

  function beginWatching(): void {
    if (closed || watching === undefined) return;
    watcher ??= [...readers].find(({ stale }) => !stale) ?? tryStart(() => {});
    if (watcher === undefined) return void setTimeout(beginWatching, RESTART_MS).unref();
    updateHold(watcher);
    send(watcher.child, { watch: watching.everyMs });
  }

  return {
    async run(statement, limits) {
      const { signal, caller } = limits;
      const release = await queue.take(caller, signal);
      if (closed || signal.aborted) {
        release();
        throw closed ? lost() : signal.reason;
      }
      return await new Promise((resolve, reject) => {
        const aborted = (): void => {
          abandon(job);
          reject(signal.reason);
        };
        const settled =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            signal.removeEventListener('abort', aborted);
            settle(value);
          };
        const job: Job = { statement, limits, release, resolve: settled(resolve), reject: settled(reject) };
        signal.addEventListener('abort', aborted, { once: true });
        assign(job);
      });
    },

    async watch(everyMs, tell) {
      const begun = new Promise<void>((resolve) => {
        watching = { everyMs, tell, begun: resolve };
      });
      beginWatching();
      await begun;
      return {
        async [Symbol.asyncDispose]() {
          watching = undefined;
          if (watcher !== undefined) send(watcher.child, { watch: 0 });
          watcher = undefined;
        },
      };
    },

    renew() {
      for (const reader of [...readers]) {
        reader.stale = true;
        if (reader.job === undefined) end(reader, lost());
      }
    },

    async close() {
      closed = true;
      queue.close(lost());
      for (const reader of [...readers]) end(reader, lost());
      watching?.begun?.();
      await Promise.all(ending);
    },
  };
}

/** Sends a message. A process that could not be started may have no channel; its `error` event follows. */
function send(child: ChildProcess, message: object, sent: (error: Error | null) => void = () => {}): void {
  if ('send' in child) child.send(message, sent);
}

/** Sets whether the child process and its channels keep this program running. */
function hold(child: ChildProcess, yes: boolean): void {
  const method = yes ? 'ref' : 'unref';
  child[method]();
  child.channel?.[method]();
  if (child.stderr instanceof Socket) child.stderr[method]();
}
