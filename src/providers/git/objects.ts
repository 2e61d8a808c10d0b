/**
 * Reads objects of a repository by their hash. One `git cat-file` process (two before git 2.36) stays open and answers
 * requests in order. It is restarted for the next request after it has ended, and does not keep this process alive while no
 * request waits.
 */
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { ResourceError } from '../../core/errors.ts';
import { type Git, gitFailed, isAtLeast, startGit } from './command.ts';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface ObjectInfo {
  readonly type: ObjectType;
  /** Bytes. */
  readonly size: number;
}

export interface ObjectContent extends ObjectInfo {
  /** Undefined if the object has more bytes than `maxBytes`. */
  readonly bytes: Buffer | undefined;
}

export interface Objects {
  /** Returns undefined if the repository lacks the object, as a shallow or partial clone may. */
  info(oid: string, signal: AbortSignal): Promise<ObjectInfo | undefined>;
  content(oid: string, maxBytes: number, signal: AbortSignal): Promise<ObjectContent | undefined>;
  /** Ids of running processes, for tests. */
  readonly processes: readonly number[];
  close(): void;
}

/** The first version with `--batch-command`, which answers both kinds of requests. */
const BATCH_COMMAND: Git['version'] = [2, 36];

export function createObjects(git: Git): Objects {
  const open = (mode: string): Channel => createChannel(() => startGit(git, ['cat-file', mode]), git.timeoutMs);
  if (isAtLeast(git.version, BATCH_COMMAND)) {
    const both = open('--batch-command');
    return {
      info: (oid, signal) => both.ask(`info ${oid}`, undefined, signal),
      content: (oid, maxBytes, signal) => both.ask(`contents ${oid}`, maxBytes, signal),
      get processes() {
        return both.process === undefined ? [] : [both.process];
      },
      close: () => both.close(),
    };
  }
  const [facts, contents] = [open('--batch-check'), open('--batch')];
  return {
    info: (oid, signal) => facts.ask(oid, undefined, signal),
    content: (oid, maxBytes, signal) => contents.ask(oid, maxBytes, signal),
    get processes() {
      return [facts.process, contents.process].filter((pid) => pid !== undefined);
    },
    close() {
      facts.close();
      contents.close();
    },
  };
}

/** The most requests that wait for an answer. */
const MAX_WAITING = 10_000;

/** A request is sent once more when the process ends before answering it. */
const MAX_ATTEMPTS = 2;

interface ObjectRequest {
  readonly line: string;
  /** The most bytes of content; undefined for a request without content. */
  readonly maxBytes: number | undefined;
  readonly answer: (content: ObjectContent | undefined) => void;
  readonly refuse: (error: unknown) => void;
  attempts: number;
}

interface Channel {
  ask(line: string, maxBytes: number | undefined, signal: AbortSignal): Promise<ObjectContent | undefined>;
  readonly process: number | undefined;
  close(): void;
}

/** The answer that is being read, and how many of its bytes are left. */
interface Body {
  readonly info: ObjectInfo;
  readonly chunks: Buffer[] | undefined;
  left: number;
}

const HEADER = /^[0-9a-f]+ (blob|tree|commit|tag) (\d+)$/;

function createChannel(start: () => ChildProcess, timeoutMs: number): Channel {
  const waiting: ObjectRequest[] = [];
  let child: ChildProcess | undefined;
  let header: Buffer = Buffer.alloc(0);
  let body: Body | undefined;
  let watchdog: NodeJS.Timeout | undefined;
  /** Lines that are not written to the process yet. */
  let unsent = '';
  let sending = false;
  let closed = false;

  function ask(line: string, maxBytes: number | undefined, signal: AbortSignal): Promise<ObjectContent | undefined> {
    signal.throwIfAborted();
    if (closed) throw new ResourceError('unavailable', 'The repository is closed');
    if (waiting.length >= MAX_WAITING)
      throw new ResourceError('limited', 'Too many requests to this repository at a time; try again later');
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      const done =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          signal.removeEventListener('abort', abort);
          settle(value);
        };
      signal.addEventListener('abort', abort, { once: true });
      const request: ObjectRequest = { line, maxBytes, answer: done(resolve), refuse: done(reject), attempts: 0 };
      waiting.push(request);
      if (child === undefined) begin();
      else send(child, [request]);
    });
  }

  /** Starts a process and sends it all waiting requests. */
  function begin(): void {
    let started: ChildProcess;
    try {
      started = start();
    } catch (error) {
      ended(error);
      return;
    }
    child = started;
    header = Buffer.alloc(0);
    body = undefined;
    unsent = '';
    const end = (cause: unknown): void => {
      if (child === started) ended(cause);
    };
    started.once('error', end);
    started.once('close', (status) => end(new Error(`git cat-file ended with ${status}`)));
    started.stdout?.on('data', (chunk: Buffer) => {
      if (child === started) receive(chunk);
    });
    started.stderr?.resume();
    send(started, waiting);
  }

  function send(to: ChildProcess, requests: readonly ObjectRequest[]): void {
    keepAlive(to, true);
    watch();
    unsent += requests.map(({ line }) => `${line}\n`).join('');
    if (unsent === '' || sending) return;
    sending = true;
    // Writes all requests of one turn of the event loop together.
    queueMicrotask(() => {
      sending = false;
      if (child !== undefined) child.stdin?.write(unsent);
      unsent = '';
    });
  }

  function receive(chunk: Buffer): void {
    watch();
    let at = 0;
    while (at < chunk.byteLength) {
      if (body !== undefined) {
        const part = chunk.subarray(at, at + body.left);
        at += part.byteLength;
        body.left -= part.byteLength;
        body.chunks?.push(part);
        if (body.left === 0) finish(body);
        continue;
      }
      const end = chunk.indexOf(10, at);
      const part = chunk.subarray(at, end === -1 ? undefined : end);
      header = header.byteLength === 0 ? part : Buffer.concat([header, part]);
      if (end === -1) return;
      at = end + 1;
      const line = header.toString('latin1');
      header = Buffer.alloc(0);
      heard(line);
    }
  }

  function heard(line: string): void {
    const request = waiting[0];
    if (request === undefined) return;
    const [, type, size] = HEADER.exec(line) ?? [];
    const info: ObjectInfo = { type: type as ObjectType, size: Number(size) };
    if (type === undefined) settle(undefined);
    else if (request.maxBytes === undefined) settle({ ...info, bytes: undefined });
    // The newline after the content is part of the answer.
    else body = { info, chunks: info.size <= request.maxBytes ? [] : undefined, left: info.size + 1 };
  }

  function finish({ info, chunks }: Body): void {
    body = undefined;
    settle({ ...info, bytes: chunks && Buffer.concat(chunks).subarray(0, info.size) });
  }

  function settle(content: ObjectContent | undefined): void {
    waiting.shift()?.answer(content);
    if (waiting.length > 0) return;
    clearTimeout(watchdog);
    if (child !== undefined) keepAlive(child, false);
  }

  /** Ends the process when an answer makes no progress for as long as a command may take. */
  function watch(): void {
    clearTimeout(watchdog);
    if (waiting.length > 0) watchdog = setTimeout(() => child?.kill('SIGKILL'), timeoutMs);
  }

  function ended(cause: unknown): void {
    clearTimeout(watchdog);
    const started = child?.pid !== undefined;
    child = undefined;
    const blamed = waiting[0];
    if (blamed !== undefined && (++blamed.attempts >= MAX_ATTEMPTS || !started || closed)) {
      waiting.shift();
      blamed.refuse(gitFailed(cause));
    }
    if (!started || closed) for (const request of waiting.splice(0)) request.refuse(gitFailed(cause));
    if (waiting.length > 0) begin();
  }

  return {
    ask,
    get process() {
      return child?.pid;
    },
    close() {
      closed = true;
      const last = child;
      ended(new Error('The repository was closed'));
      last?.kill('SIGKILL');
    },
  };
}

function keepAlive(child: ChildProcess, yes: boolean): void {
  const what = yes ? 'ref' : 'unref';
  child[what]();
  for (const stream of [child.stdin, child.stdout, child.stderr])
    if (stream instanceof Socket && !stream.destroyed) stream[what]();
}
