/**
 * Runs work in a thread, with a limit in time and memory, so that it never blocks the event loop. It is meant for libraries that
 * convert foreign content in one go and cannot be interrupted.
 */
import { Worker } from 'node:worker_threads';

/** The outcome of a task: an answer, or the reason why there is none. */
export type Outcome<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'memory' | 'timeout' }
  | { readonly kind: 'failed'; readonly cause: Error };

export interface Thread<Task, Answer> {
  /** Runs a task. Only one may run at a time. Never rejects. */
  run(task: Task, timeoutMs: number): Promise<Outcome<Answer>>;
  /** Whether the thread has ended and must not be used again. */
  readonly ended: boolean;
  end(): Promise<void>;
}

export interface ThreadOptions {
  /** The source text of a program that answers each message with one message. */
  readonly program: string;
  /** The `workerData` of the program. */
  readonly data?: unknown;
  /** The most memory of its heap, in MiB. */
  readonly maxHeapMb: number;
}

/** Starts a thread. @throws Error if the program cannot be loaded at all */
export function startThread<Task, Answer>({ program, data, maxHeapMb }: ThreadOptions): Thread<Task, Answer> {
  // The thread gets neither the environment of this process nor its standard output, which belongs to the protocol.
  const worker = new Worker(program, {
    eval: true,
    workerData: data,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  // The thread does not keep the process alive.
  worker.unref();
  let ended = false;
  let settle: ((outcome: Outcome<Answer>) => void) | undefined;

  const finish = (outcome: Outcome<Answer>): void => {
    const settleNow = settle;
    settle = undefined;
    settleNow?.(outcome);
  };
  const end = async (): Promise<void> => {
    ended = true;
    await worker.terminate();
  };
  worker.on('message', (answer: Answer) => finish({ kind: 'answer', answer }));
  worker.on('messageerror', (cause) => finish({ kind: 'failed', cause }));
  worker.on('error', (cause: NodeJS.ErrnoException) => {
    ended = true;
    finish(cause.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { kind: 'memory' } : { kind: 'failed', cause });
  });
  worker.on('exit', (status) => {
    ended = true;
    finish({ kind: 'failed', cause: new Error(`The thread ended with ${status}`) });
  });

  return {
    get ended() {
      return ended;
    },
    end,
    run(task, timeoutMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          void end();
          finish({ kind: 'timeout' });
        }, timeoutMs);
        settle = (outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        };
        worker.postMessage(task);
      });
    },
  };
}
