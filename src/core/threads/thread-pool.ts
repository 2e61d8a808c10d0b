/**
 * A few threads, started on demand and ended when idle. Each source has at most one thread at a time, so that a source
 * with slow content does not block the others for long.
 */
import { ResourceError } from '../errors.ts';
import { type Outcome, startThread, type Thread, type ThreadOptions } from './thread.ts';

export interface ThreadPoolOptions {
  /** Gives the options of a thread; called each time one is started. */
  readonly thread: () => ThreadOptions;
  readonly maxThreads: number;
  /** The most tasks that wait for their turn. */
  readonly maxWaiting: number;
  /** The time limit of one task, in milliseconds. */
  readonly timeoutMs: number;
}

export interface ThreadPool<Task, Answer> {
  /**
   * Runs a task when it is its source's turn.
   * @param source tasks of one source run one after the other
   * @param signal ends the task when the caller no longer needs it
   * @throws ResourceError `limited` when too many tasks are waiting; the signal's reason
   */
  run(task: Task, source: object, signal: AbortSignal): Promise<Outcome<Answer>>;
  /** Ends idle threads. */
  rest(): Promise<void>;
}

/** How long an idle thread is kept, in milliseconds. */
const IDLE_MS = 30_000;

interface Job<Task, Answer> {
  readonly task: Task;
  readonly source: object;
  readonly signal: AbortSignal;
  readonly resolve: (outcome: Outcome<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

export function createThreadPool<Task, Answer>(options: ThreadPoolOptions): ThreadPool<Task, Answer> {
  const { maxThreads, maxWaiting, timeoutMs } = options;
  const waiting: Job<Task, Answer>[] = [];
  const idle = new Map<Thread<Task, Answer>, NodeJS.Timeout>();
  const busy = new Set<object>();

  function take(): Thread<Task, Answer> {
    for (const [kept, timer] of idle) {
      clearTimeout(timer);
      idle.delete(kept);
      if (!kept.ended) return kept;
    }
    return startThread(options.thread());
  }

  function put(used: Thread<Task, Answer>): void {
    if (used.ended) return;
    const timer = setTimeout(() => {
      idle.delete(used);
      void used.end();
    }, IDLE_MS).unref();
    idle.set(used, timer);
  }

  function next(): void {
    if (busy.size >= maxThreads) return;
    const at = waiting.findIndex(({ source }) => !busy.has(source));
    const [job] = at === -1 ? [] : waiting.splice(at, 1);
    if (job === undefined) return;
    void run(job);
    next();
  }

  async function run({ task, source, signal, resolve, reject }: Job<Task, Answer>): Promise<void> {
    busy.add(source);
    try {
      const used = take();
      const leave = (): void => void used.end();
      signal.addEventListener('abort', leave, { once: true });
      const outcome = await used.run(task, timeoutMs);
      signal.removeEventListener('abort', leave);
      put(used);
      if (signal.aborted) reject(signal.reason);
      else resolve(outcome);
    } catch (cause) {
      resolve({ kind: 'failed', cause: cause as Error });
    } finally {
      busy.delete(source);
      next();
    }
  }

  return {
    run(task, source, signal) {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (waiting.length >= maxWaiting)
        return Promise.reject(new ResourceError('limited', 'Too many reads at a time; try again later'));
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          const at = waiting.indexOf(job);
          if (at === -1) return;
          waiting.splice(at, 1);
          reject(signal.reason);
        };
        const settled =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            signal.removeEventListener('abort', leave);
            settle(value);
          };
        const job: Job<Task, Answer> = { task, source, signal, resolve: settled(resolve), reject: settled(reject) };
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(job);
        next();
      });
    },

    async rest() {
      const ending = [...idle];
      idle.clear();
      for (const [, timer] of ending) clearTimeout(timer);
      await Promise.all(ending.map(([kept]) => kept.end()));
    },
  };
}
