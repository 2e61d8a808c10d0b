/**
 * A thread that looks for secrets, one text after the other. The library's patterns pause for nobody: a text that takes too
 * long ends with its thread.
 */
import { ResourceError } from '../../core/errors.ts';
import { startThread } from '../../core/threads/thread.ts';
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

/** @param timeoutMs for one text, in milliseconds */
export function startScanThread(data: ReturnType<typeof scanProgramData>, timeoutMs: number): ScanThread {
  const thread = startThread<Uint8Array, Answer>({ program: SCAN_PROGRAM, data, maxHeapMb: MAX_HEAP_MB });
  return {
    async scan(bytes) {
      if (thread.ended) throw scanFailed(undefined);
      const outcome = await thread.run(bytes, timeoutMs);
      if (outcome.kind === 'timeout') throw tooSlow(timeoutMs);
      if (outcome.kind !== 'answer') throw scanFailed(outcome.kind === 'failed' ? outcome.cause : undefined);
      if ('failed' in outcome.answer) throw scanFailed(new Error(outcome.answer.failed));
      return merged(outcome.answer.found);
    },
    get ended() {
      return thread.ended;
    },
    end: () => thread.end(),
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
