/** One process that converts: it is started with nothing of this one's, and is ended when it takes too long or too much. */
import { type ChildProcess, spawn } from 'node:child_process';
import { builtProgram } from '../../core/threads/built-program.ts';
import { type Answer, OUT_OF_MEMORY, type Task } from './program.ts';

/** How a conversion ended that was sent to a process. */
export type Outcome =
  | { readonly kind: 'format'; readonly format: Uint8Array }
  | { readonly kind: 'too-large'; readonly message: string; readonly details: Readonly<Record<string, unknown>> }
  | { readonly kind: 'memory' | 'timeout' }
  | { readonly kind: 'failed'; readonly cause: Error };

export interface ConversionProcess {
  /** Converts; one at a time. Never rejects. */
  convert(task: Omit<Task, 'id'>, timeoutMs: number): Promise<Outcome>;
  /** It may not be used again. */
  readonly ended: boolean;
  end(): void;
}

export interface ProcessOptions {
  /** Of the process. */
  readonly maxMemoryBytes: number;
  /** The program's module. Default: the one that was built with this. */
  readonly program?: URL | undefined;
}

const PROGRAM = 'layers/alternatives/program';

/** The most bytes of standard error that are kept. */
const MAX_STDERR = 4_096;

/** Bytes of code and of what Node.js needs, beside the heap. */
const OUTSIDE_BYTES = 96 * 1024 * 1024;

export function startProcess({ maxMemoryBytes, program = builtProgram(PROGRAM) }: ProcessOptions): ConversionProcess {
  const heap = Math.max(64, Math.floor((maxMemoryBytes - OUTSIDE_BYTES) / 1024 / 1024));
  const code = `import(${JSON.stringify(program.href)}).then((program) => program.serveConversions(${JSON.stringify({ maxMemoryBytes })}))`;
  const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, '--no-warnings', '-e', code], {
    // Nothing of this process is for it: neither its environment, nor its standard output, which is the protocol's.
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
    const { settle: tell } = running ?? {};
    running = undefined;
    tell?.(outcome);
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
      // A process that took much memory may not give it back: the next conversion begins with a new one.
      if (answer.usedBytes > maxMemoryBytes / 2) end();
      const { format } = answer;
      settle({ kind: 'format', format: typeof format === 'string' ? new TextEncoder().encode(format) : format });
    } else if ('tooLarge' in answer) settle({ kind: 'too-large', message: answer.tooLarge, details: answer.details });
    else settle({ kind: 'failed', cause: new Error(answer.failed) });
  });
  const gone = (cause: Error): void => {
    ended = true;
    settle({ kind: 'failed', cause });
  };
  child.on('error', gone);
  // After `exit`, standard error may have something that was written before it.
  child.on('close', (status, signal) => {
    ended = true;
    const outOfMemory = stderr.includes(OUT_OF_MEMORY) || /heap out of memory|allocation failed/i.test(stderr);
    if (outOfMemory) settle({ kind: 'memory' });
    else gone(new Error(`The process ended with ${signal ?? status}: ${stderr}`));
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
        child.send({ ...task, id } satisfies Task, (error) => {
          if (error !== null) gone(error);
        });
      });
    },
  };
}

/** Whether it is there or not, the server may end. */
function unref(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  // The pipe of standard error is a socket, which `ChildProcess` does not say.
  (child.stderr as { unref?: () => void } | null)?.unref?.();
}
