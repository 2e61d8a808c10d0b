/**
 * Runs a thread that scans texts for secrets, one after the other. The library's patterns cannot be interrupted, so a text that
 * takes too long ends the thread.
 */
import { ResourceError } from '../../core/errors.ts';
import { startThread } from '../../core/threads/thread.ts';
import { type Finding, merged } from './mask.ts';
import { SCAN_PROGRAM, type scanProgramData } from './scan-program.ts';

/** The most memory of the thread's heap, in MiB. */
const MAX_HEAP_MB = 512;

export interface ScanThread {
  /**
   * Scans one text. It must not be called while another text is scanned.
   * @throws ResourceError `timeout`, and then the thread has ended; `unavailable` if the scan fails or the thread has ended
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
  new ResourceError('timeout', 'The content could not be scanned for secrets in time; read it in windows', {
    details: { limitMs },
  });

/** The error for a content that cannot be scanned. */
export const scanFailed = (cause: unknown): ResourceError =>
  new ResourceError(
    'unavailable',
    'The content cannot be scanned for secrets now, so it is not returned; try again later',
    {
      cause,
    },
  );
