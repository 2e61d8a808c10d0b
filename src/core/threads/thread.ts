/**
 * A thread for work that pauses for nobody: libraries that take other people's content and give it back whole. Here the
 * work has a limit in time and memory, and the event loop never waits for it.
 */
import { Worker } from 'node:worker_threads';

/** How work ended that was given to a thread. */
export type Outcome<Answer> =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'memory' | 'timeout' }
  | { readonly kind: 'failed'; readonly cause: Error };

export interface Thread<Task, Answer> {
  /** Gives it a task; one at a time. Never rejects. */
  run(task: Task, timeoutMs: number): Promise<Outcome<Answer>>;
  /** It may not be used again. */
  readonly ended: boolean;
  end(): Promise<void>;
}

export interface ThreadOptions {
  /** The text of a program, which answers each message with one of its own. */
  readonly program: string;
  /** The `workerData` of the program. */
  readonly data?: unknown;
  /** Of its heap, in MiB. */
  readonly maxHeapMb: number;
}

/** @throws Error where the program cannot be loaded at all */
export function startThread<Task, Answer>({ program, data, maxHeapMb }: ThreadOptions): Thread<Task, Answer> {
  // Nothing of this process is for it: neither its environment, nor its standard output, which is the protocol's.
  const worker = new Worker(program, {
    eval: true,
    workerData: data,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  // Whether it is there or not, the server may end.
  worker.unref();
  let ended = false;
  let settle: ((outcome: Outcome<Answer>) => void) | undefined;

  const finish = (outcome: Outcome<Answer>): void => {
    const waiting = settle;
    settle = undefined;
    waiting?.(outcome);
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
