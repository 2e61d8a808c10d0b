/**
 * A thread that looks for secrets, one text after the other. The library's patterns pause for nobody: a text that takes too
 * long ends with its thread.
 */
import { Worker } from 'node:worker_threads';
import { ResourceError } from '../../core/errors.ts';
import { type Finding, merged } from './mask.ts';
import { SCAN_PROGRAM, type scanProgramData } from './scan-program.ts';

/** Of the thread, in MiB. */
const MAX_HEAP_MB = 512;

export interface ScanThread {
  /**
   * Looks through one text; not to be called while another one is looked through.
   * @throws ResourceError `timeout`, `unavailable`; the thread has ended then
   */
  scan(bytes: Uint8Array): Promise<readonly Finding[]>;
  readonly ended: boolean;
  end(): Promise<void>;
}

type Answer = { readonly found: readonly Finding[] } | { readonly failed: string };

interface Job {
  readonly resolve: (found: readonly Finding[]) => void;
  readonly reject: (error: unknown) => void;
}

/** @param timeoutMs for one text, in milliseconds */
export function startScanThread(data: ReturnType<typeof scanProgramData>, timeoutMs: number): ScanThread {
  let job: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  // Nothing of this process is for it: neither its environment, nor its standard output, which is the protocol's.
  const worker = new Worker(SCAN_PROGRAM, {
    eval: true,
    workerData: data,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  worker.unref();

  /** Returns the job that is under way, and forgets it. */
  function take(): Job | undefined {
    const taken = job;
    clearTimeout(timer);
    job = undefined;
    return taken;
  }

  async function end(error: unknown): Promise<void> {
    ended = true;
    take()?.reject(error);
    await worker.terminate();
  }

  worker.on('message', (answer: Answer) => {
    if ('found' in answer) take()?.resolve(merged(answer.found));
    else take()?.reject(scanFailed(new Error(answer.failed)));
  });
  worker.on('error', (cause) => void end(scanFailed(cause)));
  worker.on('exit', (cause) => void end(scanFailed(cause)));

  return {
    scan: (bytes) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(scanFailed(undefined));
        job = { resolve, reject };
        timer = setTimeout(() => void end(tooSlow(timeoutMs)), timeoutMs);
        worker.postMessage(bytes);
      }),
    get ended() {
      return ended;
    },
    end: () => end(scanFailed(undefined)),
  };
}

const tooSlow = (limitMs: number): ResourceError =>
  new ResourceError('timeout', 'The content could not be looked through for secrets in time; read it in windows', {
    details: { limitMs },
  });

export const scanFailed = (cause: unknown): ResourceError =>
  new ResourceError('unavailable', 'The content cannot be looked through for secrets now, so it is not given', {
    cause,
  });
