/**
 * Runs SQLite in a thread that has a database open. SQLite blocks its caller, so it must not run in the thread of the event
 * loop. The program of the thread is a text, so that it works wherever the files of Vitrine are.
 */
import { Worker } from 'node:worker_threads';
import { ResourceError } from '../core/errors.ts';
import { SCORING_PROGRAM } from './scoring-program.ts';

export type SqlValue = string | number | null;

/** A statement with its parameters. */
export type Statement = readonly [sql: string, ...parameters: SqlValue[]];

/** The rows that a statement gave. */
export type Rows = readonly (readonly SqlValue[])[];

/** The most requests that wait for the thread. */
const MAX_WAITING = 256;

/** Milliseconds that a statement waits for another connection that has locked the file. */
const BUSY_MS = 2_000;

/** The most statements that stay prepared. */
const MAX_PREPARED = 256;

/** The largest heap of the thread, in MiB. */
const MAX_HEAP_MB = 128;

/** The most threads that may be ending after a question that took too long. While there are so many, no new thread is started. */
const MAX_ENDING = 2;

/** The most milliseconds that a reading thread may take to answer waiting requests when it is closed. */
const LAST_ANSWERS_MS = 5_000;

const PROGRAM = `
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const { DatabaseSync } = require(workerData.library);
const options = { timeout: ${BUSY_MS}, enableDoubleQuotedStringLiterals: false, returnArrays: true };
// Defensive mode would forbid to write the sums of a table of words.
const writable = { defensive: false };
let lock;
let database;
const prepared = new Map();

function open() {
  if (database !== undefined) return database;
  if (workerData.lock !== undefined && lock === undefined) {
    const locking = new DatabaseSync(workerData.lock, { ...options, timeout: 0 });
    try {
      locking.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      locking.close();
      throw error;
    }
    lock = locking;
  }
  const opened = new DatabaseSync(workerData.file, { ...options, ...(workerData.lock === undefined ? { readOnly: true } : writable) });
  try {
    for (const pragma of workerData.pragmas) opened.exec(pragma);
  } catch (error) {
    opened.close();
    throw error;
  }
  return (database = opened);
}

function statement(sql) {
  let found = prepared.get(sql);
  if (found === undefined) {
    if (prepared.size >= ${MAX_PREPARED}) prepared.clear();
    found = open().prepare(sql);
    prepared.set(sql, found);
  }
  return found;
}

function run(statements, together) {
  if (!together) return statements.map(([sql, ...parameters]) => statement(sql).all(...parameters));
  open().exec('BEGIN IMMEDIATE');
  try {
    const rows = statements.map(([sql, ...parameters]) => statement(sql).all(...parameters));
    database.exec('COMMIT');
    return rows;
  } catch (error) {
    try { database.exec('ROLLBACK'); } catch {}
    throw error;
  }
}

const all = (sql, ...parameters) => statement(sql).all(...parameters);
const exec = (sql) => open().exec(sql);
${SCORING_PROGRAM}

parentPort.on('message', ({ id, statements, together, words }) => {
  if (Atomics.load(workerData.ended, 0) === 1) {
    prepared.clear();
    try { database?.close(); } catch {}
    try { lock?.close(); } catch {}
    return parentPort.close();
  }
  try {
    parentPort.postMessage({ id, rows: words === undefined ? run(statements, together) : scored(words) });
  } catch (error) {
    parentPort.postMessage({ id, error: { message: String(error.message), errcode: error.errcode } });
  }
});
`;

/** How the database of an index fails. */
export type FaultKind = 'damaged' | 'locked' | 'full' | 'gone' | 'other';

/** A statement that the database refused; `kind` says what can be done about it. */
export class SqlFault extends Error {
  override readonly name = 'SqlFault';
  readonly kind: FaultKind;
  /** The fault in words that callers may see. */
  readonly reason: string | undefined;

  constructor(kind: FaultKind, message: string, options: { readonly reason?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.reason = options.reason;
  }
}

/** Kinds of faults by SQLite's primary result code: BUSY, LOCKED, IOERR, CORRUPT, FULL, CANTOPEN, NOTADB. */
const KINDS: Readonly<Record<number, FaultKind>> = {
  5: 'locked',
  6: 'locked',
  10: 'full',
  11: 'damaged',
  13: 'full',
  14: 'full',
  26: 'damaged',
};

export interface SqlThread {
  /**
   * Runs statements one after the other, in one transaction if `together` is set.
   * @param timeoutMs milliseconds, without those in which the request waits for others. Default: 10 minutes
   * @throws SqlFault; ResourceError `limited` if too many requests wait; from a thread that reads, ResourceError `timeout`
   */
  run(statements: readonly Statement[], together?: boolean, timeoutMs?: number): Promise<readonly Rows[]>;
  /** Returns the best passages for some words; `null` if only statements can find them. @throws like `run` */
  score(words: ScoredWords, timeoutMs: number): Promise<readonly ScoredKind[] | null>;
  /** The number of requests that wait for an answer. */
  readonly waiting: number;
  /** Closes the file and ends the thread. Requests that wait are answered before. */
  close(): Promise<void>;
}

/** Words to look for. */
export interface ScoredWords {
  /** The numbers of the kinds to search. */
  readonly kinds: readonly number[];
  /** Each word with the forms that count as this word. */
  readonly terms: readonly (readonly string[])[];
  /** The most passages of each list. */
  readonly limit: number;
  /** The statement that turns a list of numbers of passages into a list of their rows, both in JSON. A row begins with the number. */
  readonly columns: string;
}

/** The number of a passage, and its score. */
type Score = readonly [passage: number, score: number];

/** The passages of one kind, best first. */
export interface ScoredKind {
  /** The number of passages of the kind. */
  readonly passages: number;
  /** The number of passages that have each term. */
  readonly counts: readonly number[];
  /** The best passages that have some of the terms. */
  readonly some: readonly Score[];
  /** The best passages that have all terms, if there are several terms. */
  readonly all: readonly Score[];
  /** The result of `columns`. */
  readonly rows: string;
}

export interface SqlThreadOptions {
  /** The path of the package that has SQLite. */
  readonly library: string;
  readonly file: string;
  /** A file that only one process can have at a time. Without it, the database is opened for reading only. */
  readonly lock?: string | undefined;
  /** Statements that are run when the file is opened. */
  readonly pragmas: readonly string[];
  /** The tokenizer of the tables of words and the weights of their columns, for a thread that scores. */
  readonly scoring?: { readonly tokenizer: string; readonly weights: readonly number[] } | undefined;
}

interface Job {
  readonly message: object;
  readonly timeoutMs: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Answer {
  readonly id: number;
  readonly rows?: unknown;
  readonly error?: { readonly message: string; readonly errcode?: number };
}

/** A thread. It ends as soon as its program sees that `ended` is set. */
interface Running {
  readonly thread: Worker;
  readonly ended: Int32Array;
}

/** The most milliseconds for a request. */
const STATEMENT_MS = 10 * 60_000;

/** The thread is started for the first statement, and again if it has ended. */
export function sqlThread(options: SqlThreadOptions): SqlThread {
  /** The requests that wait for an answer. The thread works on the first one. */
  const jobs = new Map<number, Job>();
  const ending = new Set<Promise<void>>();
  let running: Running | undefined;
  let next = 0;
  let timer: NodeJS.Timeout | undefined;

  function rejectAll(cause: unknown): void {
    const waiting = [...jobs.values()];
    jobs.clear();
    for (const { reject } of waiting) reject(new SqlFault('gone', `The thread of the index ended: ${String(cause)}`));
  }

  function fail(failed: Worker, cause: unknown): void {
    if (running?.thread !== failed) return;
    running = undefined;
    clearTimeout(timer);
    rejectAll(cause);
  }

  /**
   * Lets the thread end after the statement that it runs. SQLite cannot be interrupted, and terminating a thread inside
   * SQLite would end the whole process.
   */
  function retire(): void {
    if (running === undefined) return;
    const { thread, ended } = running;
    running = undefined;
    Atomics.store(ended, 0, 1);
    const exited = new Promise<void>((resolve) => thread.once('exit', () => resolve())).then(() => {
      ending.delete(exited);
      if (running === undefined && jobs.size > 0) start();
    });
    ending.add(exited);
    thread.ref();
    thread.postMessage({});
  }

  /** Handles a first request that takes too long. */
  function late(): void {
    const [first] = jobs;
    if (first === undefined) return;
    const [id, { reject }] = first;
    retire();
    // The thread may already write for the next request, so all waiting requests fail.
    if (options.lock !== undefined) {
      rejectAll('a statement took too long');
      return;
    }
    jobs.delete(id);
    reject(new ResourceError('timeout', 'The question takes too long; ask for words that are less common'));
    if (jobs.size > 0) start();
  }

  /** Measures the time of the first request. */
  function measure(): void {
    clearTimeout(timer);
    const [first] = jobs.values();
    if (first !== undefined) timer = setTimeout(late, first.timeoutMs).unref();
  }

  /** Starts a thread and sends it all waiting requests, unless too many other threads are still ending. */
  function start(): void {
    measure();
    if (ending.size >= MAX_ENDING) return;
    const { library, file, lock, pragmas, scoring } = options;
    const ended = new Int32Array(new SharedArrayBuffer(4));
    const thread = new Worker(PROGRAM, {
      eval: true,
      workerData: { library, file, lock, pragmas, ended, ...scoring },
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    thread.unref();
    thread.on('message', ({ id, rows, error }: Answer) => {
      const job = jobs.get(id);
      if (running?.thread !== thread || job === undefined) return;
      jobs.delete(id);
      measure();
      if (error === undefined) job.resolve(rows);
      else job.reject(new SqlFault(KINDS[(error.errcode ?? 0) & 0xff] ?? 'other', error.message));
    });
    thread.on('error', (error) => fail(thread, error));
    thread.on('exit', (status) => fail(thread, `status ${status}`));
    running = { thread, ended };
    for (const [id, { message }] of jobs) thread.postMessage({ id, ...message });
  }

  function post<Answer>(message: object, timeoutMs: number): Promise<Answer> {
    const id = next++;
    return new Promise((resolve, reject) => {
      jobs.set(id, { message, timeoutMs, resolve: resolve as (answer: unknown) => void, reject });
      if (running === undefined) {
        // If other requests wait, so does this one: the next thread gets them all.
        if (jobs.size === 1) start();
        return;
      }
      running.thread.postMessage({ id, ...message });
      if (jobs.size === 1) measure();
    });
  }

  function ask<Answer>(message: object, timeoutMs: number): Promise<Answer> {
    return jobs.size < MAX_WAITING
      ? post(message, timeoutMs)
      : Promise.reject(new ResourceError('limited', 'Too many searches wait for the index; try again'));
  }

  /** Waits until all requests are answered. */
  async function answered(): Promise<void> {
    const tooLate = setTimeout(
      () => {
        clearTimeout(timer);
        retire();
        rejectAll('it was closed');
      },
      options.lock === undefined ? LAST_ANSWERS_MS : STATEMENT_MS,
    ).unref();
    await post({ statements: [] }, STATEMENT_MS).catch(() => {});
    clearTimeout(tooLate);
  }

  return {
    get waiting() {
      return jobs.size;
    },
    run: (statements, together = false, timeoutMs = STATEMENT_MS) => ask({ statements, together }, timeoutMs),
    score: (words, timeoutMs) => ask({ words }, timeoutMs),
    async close() {
      // The thread finishes its work, so that no transaction is cut off.
      if (jobs.size > 0) await answered();
      clearTimeout(timer);
      retire();
      rejectAll('it was closed');
      await Promise.all(ending);
    },
  };
}
