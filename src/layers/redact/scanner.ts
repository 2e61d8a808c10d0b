/**
 * Looks for secrets on a thread of its own, one text after the other. The library's patterns pause for nobody, and texts
 * are other people's: here one that takes too long ends with its thread, and the event loop never waits.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { invalid, ResourceError } from '../../core/errors.ts';
import { type Finding, merged } from './mask.ts';
import { SCAN_PROGRAM, scanProgramData } from './scan-program.ts';

/** What has to be installed for it: they are no dependencies of those who do not scan. */
const PACKAGES = ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'] as const;

/** For one text, in milliseconds. 1 MiB takes about 10, and with a secret in every fifth line about 1,000. */
const MAX_SCAN_MS = 15_000;

/** Texts, and bytes of them, that wait for their turn. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Of the thread, in MiB. */
const MAX_HEAP_MB = 512;

export interface Scanner {
  /**
   * Where there are secrets, in order, none overlapping another.
   * @throws ResourceError `timeout` when it takes too long, `limited` when too many are waiting, `unavailable` when the
   *   scanner fails; the reason of the signal
   */
  scan(bytes: Uint8Array, signal: AbortSignal): Promise<readonly Finding[]>;
  /** Ends the thread, and what waits for it. */
  close(): Promise<void>;
}

export interface ScannerOptions {
  /** For one text, in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number | undefined;
}

interface Job {
  readonly bytes: Uint8Array;
  readonly resolve: (found: readonly Finding[]) => void;
  readonly reject: (error: unknown) => void;
}

type Answer = { readonly found: readonly Finding[] } | { readonly failed: string };

/** @throws ResourceError `invalid` where the library is not installed */
export function createScanner({ timeoutMs = MAX_SCAN_MS }: ScannerOptions = {}): Scanner {
  const data = scanProgramData(...libraries());
  const waiting: Job[] = [];
  let waitingBytes = 0;
  let worker: Worker | undefined;
  let running: (Job & { readonly timer: NodeJS.Timeout }) | undefined;
  let closed = false;

  function start(): Worker {
    // Nothing of this process is for it: neither its environment, nor its standard output, which is the protocol's.
    const started = new Worker(SCAN_PROGRAM, {
      eval: true,
      workerData: data,
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    started.unref();
    started.on('message', (answer: Answer) => {
      if (worker !== started) return;
      const job = take();
      if ('found' in answer) job?.resolve(merged(answer.found));
      else job?.reject(failed(new Error(answer.failed)));
      next();
    });
    const gone = (cause: unknown): void => {
      if (worker !== started) return;
      worker = undefined;
      take()?.reject(failed(cause));
      next();
    };
    started.on('error', gone);
    started.on('exit', gone);
    return started;
  }

  /** The one that is under way, which it then no longer is. */
  function take(): Job | undefined {
    const job = running;
    if (job !== undefined) clearTimeout(job.timer);
    running = undefined;
    return job;
  }

  function next(): void {
    if (running !== undefined || closed) return;
    const job = waiting.shift();
    if (job === undefined) return;
    waitingBytes -= job.bytes.byteLength;
    worker ??= start();
    running = { ...job, timer: setTimeout(tooSlow, timeoutMs) };
    worker.postMessage(job.bytes);
  }

  function tooSlow(): void {
    const slow = worker;
    worker = undefined;
    void slow?.terminate();
    take()?.reject(
      new ResourceError('timeout', 'The content could not be looked through for secrets in time; read it in windows', {
        details: { limitMs: timeoutMs },
      }),
    );
    next();
  }

  return {
    scan(bytes, signal) {
      if (closed) return Promise.reject(failed(undefined));
      if (signal.aborted) return Promise.reject(signal.reason);
      if (bytes.byteLength === 0) return Promise.resolve([]);
      if (waiting.length >= MAX_WAITING || waitingBytes + bytes.byteLength > MAX_WAITING_BYTES)
        return Promise.reject(
          new ResourceError('limited', 'Too much is being looked through for secrets; try again later'),
        );
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = waiting.indexOf(job);
          if (at !== -1) {
            waiting.splice(at, 1);
            waitingBytes -= bytes.byteLength;
          }
          reject(signal.reason);
        };
        const settled =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            signal.removeEventListener('abort', leave);
            settle(value);
          };
        const job: Job = { bytes, resolve: settled(resolve), reject: settled(reject) };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(job);
        waitingBytes += bytes.byteLength;
        next();
      });
    },
    async close() {
      closed = true;
      const ending = worker;
      worker = undefined;
      for (const job of [take(), ...waiting.splice(0)]) job?.reject(failed(undefined));
      waitingBytes = 0;
      await ending?.terminate();
    },
  };
}

const failed = (cause: unknown): ResourceError =>
  new ResourceError('unavailable', 'The content cannot be looked through for secrets now, so it is not given', {
    cause,
  });

function libraries(): [core: string, preset: string] {
  const { resolve } = createRequire(import.meta.url);
  const [core, preset] = PACKAGES;
  try {
    return [pathToFileURL(resolve(core)).href, pathToFileURL(resolve(preset)).href];
  } catch (cause) {
    throw invalid(`To redact secrets, install what finds them: npm install ${PACKAGES.join(' ')}`).withCause(cause);
  }
}
