/** Runs a process that converts. It inherits nothing from the server, and is ended if it takes too much time or memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { builtProgram } from '../../core/threads/built-program.ts';
import { type Answer, OUT_OF_MEMORY, type Task } from './program.ts';

/** How a conversion in a process ended. */
export type Outcome =
  | { readonly kind: 'format'; readonly format: Uint8Array }
  | { readonly kind: 'too-large'; readonly message: string; readonly details: Readonly<Record<string, unknown>> }
  | { readonly kind: 'memory' | 'timeout' }
  | { readonly kind: 'failed'; readonly cause: Error };

export interface ConversionProcess {
  /** Runs a conversion, one at a time. Never rejects. */
  convert(task: Omit<Task, 'id'>, timeoutMs: number): Promise<Outcome>;
  /** Whether the process has ended or was told to end, and cannot be used again. */
  readonly ended: boolean;
  end(): void;
}

export interface ProcessOptions {
  /** The most memory of the process, in bytes. */
  readonly maxMemoryBytes: number;
  /** The program's module. Default: the one that was built with Vitrine. */
  readonly program?: URL | undefined;
}

/** Whether the system has refused to start a process, as without memory or with too many open files. That passes. */
export const isStartRefused = (cause: unknown): boolean =>
  String((cause as NodeJS.ErrnoException | undefined)?.syscall).startsWith('spawn');

const PROGRAM = 'layers/alternatives/program';

/** The most bytes of standard error that are kept. */
const MAX_STDERR = 4_096;

/** Bytes for code and for Node.js itself, beside the heap. */
const OUTSIDE_BYTES = 96 * 1024 * 1024;

export function startProcess({ maxMemoryBytes, program = builtProgram(PROGRAM) }: ProcessOptions): ConversionProcess {
  const heap = Math.max(64, Math.floor((maxMemoryBytes - OUTSIDE_BYTES) / 1024 / 1024));
  const code = `import(${JSON.stringify(program.href)}).then((program) => program.serveConversions(${JSON.stringify({ maxMemoryBytes })}))`;
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, '--no-warnings', '-e', code], {
    // The process gets neither the server's environment nor its standard output, which belongs to the protocol.
    env: process.platform === 'win32' ? { SystemRoot: process.env.SystemRoot } : {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    windowsHide: true,
  });
  unref(child);
  let stderr = '';
  let ended = false;
  let next = 0;
  let running:
    | { readonly id: number; readonly settle: (outcome: Outcome) => void; readonly maxMemoryBytes: number }
    | undefined;

  const settle = (outcome: Outcome): void => {
    const settleRunning = running?.settle;
    running = undefined;
    settleRunning?.(outcome);
  };
  const end = (): void => {
    ended = true;
    child.kill('SIGKILL');
  };
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR);
  });
  child.on('message', (answer: Answer) => {
    if (answer.id !== running?.id) return;
    if ('format' in answer) {
      // A process that took much memory may not give it back, so the next conversion gets a new process.
      if (answer.usedBytes > maxMemoryBytes / 2) end();
      const { format } = answer;
      settle({ kind: 'format', format: typeof format === 'string' ? new TextEncoder().encode(format) : format });
    } else if ('tooLarge' in answer) settle({ kind: 'too-large', message: answer.tooLarge, details: answer.details });
    else settle({ kind: 'failed', cause: new Error(answer.failed) });
  });
  const fail = (cause: Error): void => {
    ended = true;
    settle({ kind: 'failed', cause });
  };
  child.on('error', fail);
  // Standard error is complete only at `close`, not yet at `exit`.
  child.on('close', (status, signal) => {
    ended = true;
    const outOfMemory = stderr.includes(OUT_OF_MEMORY) || /heap out of memory|allocation failed/i.test(stderr);
    if (outOfMemory) settle({ kind: 'memory' });
    else fail(new Error(`The process ended with ${signal ?? status}: ${stderr}`));
  });

  return {
    get ended() {
      return ended;
    },
    end,
    convert(task, timeoutMs) {
      const id = ++next;
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          end();
          settle({ kind: 'timeout' });
        }, timeoutMs);
        running = {
          id,
          maxMemoryBytes,
          settle: (outcome) => {
            clearTimeout(timer);
            resolve(outcome);
          },
        };
        // A process that could not be started may have no channel; its `error` event follows.
        if (!('send' in child)) return;
        child.send({ ...task, id } satisfies Task, (error) => {
          if (error !== null) fail(error);
        });
      });
    },
  };
}

/** Lets the server end while the process is still there. */
function unref(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  // The pipe of standard error is a socket, which has `unref`, but its type does not say so.
  (child.stderr as { unref?: () => void } | null)?.unref?.();
}
