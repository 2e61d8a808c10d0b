/**
 * Processes that have one database open, and the statements that wait for them. A statement that takes too long, or that
 * nobody wants any more, ends its process; the next statement starts another one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { ResourceError } from '../../../core/errors.ts';
import type { FairQueue } from '../../../core/waiting/fair-queue.ts';
import type { Limits, Rows, Statement, Value } from '../dialect.ts';
import { type Fault, faultOf } from './fault.ts';
import { PROGRAM } from './program.ts';

/** Milliseconds for a statement to end by itself that nobody wants any more. */
const GRACE_MS = 200;

/** Milliseconds until a process has to have begun. */
const START_MS = 30_000;

/** Milliseconds until another process looks for changes in the place of one that ended. */
const RESTART_MS = 500;

/** The most characters of what a process writes to its standard error that are kept for the log. */
const MAX_STDERR_CHARACTERS = 2_000;

export interface ProcessOptions {
  /** The path of the package that reads SQLite. */
  readonly library: string;
  readonly file: string;
  /** Who gets a process; there are as many as it has places. */
  readonly queue: FairQueue;
}

export interface Processes {
  run(statement: Statement, limits: Limits): Promise<Rows>;
  /** Tells of each commit by somebody else, and when a process had to be replaced; looks every so many milliseconds. */
  watch(everyMs: number, tell: () => void): Promise<AsyncDisposable>;
  /** Lets go of the file: what runs is finished, and what comes opens it anew. */
  renew(): void;
  close(): Promise<void>;
}

interface Job {
  readonly statement: Statement;
  readonly limits: Limits;
  /** Another statement may run. */
  readonly release: () => void;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  job: Job | undefined;
  /** Rows of its result that have come. */
  rows: Value[][];
  timer: NodeJS.Timeout | undefined;
  stale: boolean;
}

interface Message {
  readonly ready?: true;
  readonly changed?: true;
  readonly watching?: number;
  /** Rows of a result, which the next ones follow. */
  readonly part?: Value[][];
  /** The end of a result, with the last of its rows. */
  readonly result?: Omit<Rows, 'rows'> & { readonly rows: Value[][] };
  readonly error?: Fault;
}

const lost = (cause?: unknown): ResourceError =>
  new ResourceError('unavailable', 'The process that reads the database has ended', { cause });

export function createProcesses({ library, file, queue }: ProcessOptions): Processes {
  const running = new Set<Running>();
  /** Processes that were told to end. */
  const ending = new Set<Promise<void>>();
  /** `begun` is called when a process has begun to look for the first time, and is undefined from then on. */
  let watching: { readonly everyMs: number; readonly tell: () => void; begun: (() => void) | undefined } | undefined;
  let watcher: Running | undefined;
  let closed = false;

  function start(): Running {
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
    const one: Running = { child, exited, job: undefined, rows: [], timer: undefined, stale: false };
    running.add(one);
    const deadline = setTimeout(() => end(one, lost(new Error('It did not begin in time'))), START_MS).unref();
    child.on('message', (message: Message) => {
      clearTimeout(deadline);
      heard(one, message);
    });
    child.on('error', (error) => end(one, lost(error)));
    child.on('exit', (code, signal) => {
      clearTimeout(deadline);
      end(one, lost(new Error(`It ended with ${signal ?? code}. ${stderr}`)));
    });
    rest(one);
    return one;
  }

  function heard(one: Running, { changed, watching: everyMs, part, result, error }: Message): void {
    if (changed && one === watcher) watching?.tell();
    if (everyMs !== undefined && one === watcher && watching !== undefined) {
      // Whatever happens until another process looks in the place of one is not seen by either.
      (watching.begun ?? watching.tell)();
      watching.begun = undefined;
      rest(one);
    }
    const { job } = one;
    if (part !== undefined) one.rows.push(...part);
    if (job === undefined || (result === undefined && error === undefined)) return;
    const { rows } = one;
    one.rows = [];
    one.job = undefined;
    clearTimeout(one.timer);
    if (result !== undefined) job.resolve(rows.length === 0 ? result : { ...result, rows: [...rows, ...result.rows] });
    else if (error !== undefined) job.reject(faultOf(error));
    if (one.stale) end(one, lost());
    else rest(one);
    job.release();
  }

  /** An idle process keeps nobody running; one that is waited for does, or its answer would come after the end. */
  function rest(one: Running): void {
    hold(one.child, one.job !== undefined || (one === watcher && watching?.begun !== undefined));
  }

  function end(one: Running, error: unknown): void {
    if (!running.delete(one)) return;
    clearTimeout(one.timer);
    // Whoever closes waits for it, and has nothing else to be kept running by.
    hold(one.child, true);
    ending.add(one.exited);
    void one.exited.then(() => ending.delete(one.exited));
    one.child.kill('SIGKILL');
    const { job } = one;
    one.job = undefined;
    job?.reject(error);
    if (one === watcher) {
      watcher = undefined;
      setTimeout(beginWatching, RESTART_MS).unref();
    }
    job?.release();
  }

  function give(job: Job): void {
    const one = [...running].find(({ job: other, stale }) => other === undefined && !stale) ?? start();
    one.job = job;
    rest(one);
    one.timer = setTimeout(
      () => end(one, new ResourceError('timeout', 'The database took too long; ask for less')),
      job.limits.timeoutMs,
    );
    const { statement, limits } = job;
    const { maxRows, maxBytes, maxValueBytes } = limits;
    one.child.send({ ...statement, maxRows, maxBytes, maxValueBytes }, (error) => {
      if (error !== null) end(one, lost(error));
    });
  }

  /** A statement that nobody wants gets a moment, for to start a process takes longer. */
  function leave(job: Job): void {
    const one = [...running].find((each) => each.job === job);
    if (one === undefined) return;
    clearTimeout(one.timer);
    one.timer = setTimeout(() => end(one, lost()), GRACE_MS);
  }

  function beginWatching(): void {
    if (closed || watching === undefined) return;
    watcher ??= [...running].find(({ stale }) => !stale) ?? start();
    rest(watcher);
    watcher.child.send({ watch: watching.everyMs }, () => {});
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
          leave(job);
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
        give(job);
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
          watcher?.child.send({ watch: 0 }, () => {});
          watcher = undefined;
        },
      };
    },

    renew() {
      for (const one of [...running]) {
        one.stale = true;
        if (one.job === undefined) end(one, lost());
      }
    },

    async close() {
      closed = true;
      queue.close(lost());
      for (const one of [...running]) end(one, lost());
      watching?.begun?.();
      await Promise.all(ending);
    },
  };
}

/** Whether this process goes on as long as that one, and as there may be something to hear from it. */
function hold(child: ChildProcess, yes: boolean): void {
  const what = yes ? 'ref' : 'unref';
  child[what]();
  child.channel?.[what]();
  if (child.stderr instanceof Socket) child.stderr[what]();
}
