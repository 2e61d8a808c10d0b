/**
 * Looks for secrets on separate threads, so that no text can block the event loop, whoever wrote it. Principals take turns, so a
 * principal whose texts take long delays mostly itself.
 */

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Context } from '../../core/context.ts';
import { missingPackage } from '../../core/missing-package.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import { createFairQueue } from '../../core/waiting/fair-queue.ts';
import type { Finding } from './mask.ts';
import { scanProgramData } from './scan-program.ts';
import { type ScanThread, scanFailed, startScanThread } from './scan-thread.ts';

/** The packages to install for scans. A server that does not scan does not need them. */
const PACKAGES = ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'] as const;

/** The time limit of one text, in milliseconds. 1 MiB takes about 10, and with a secret in every fifth line about 1,000. */
const MAX_SCAN_MS = 15_000;

/** Threads at a time. With one, a principal's slow text would keep all others waiting. */
const THREADS = 2;

/** How long an idle thread is kept, in milliseconds. */
const IDLE_MS = 30_000;

/** The most texts, and bytes of them, that wait for their turn. */
const MAX_WAITING = 256;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** The principal who reads the text, and the signal that cancels the scan. */
export type Asker = Pick<Context, 'principal' | 'signal'>;

export interface Scanner {
  /**
   * Finds the secrets, in order, none overlapping another.
   * @throws ResourceError `timeout` when it takes too long, `limited` when too many are waiting, `unavailable` when the
   *   scanner fails; the reason of the signal
   */
  scan(bytes: Uint8Array, asker: Asker): Promise<readonly Finding[]>;
  /** Ends the threads and the waiting scans. */
  close(): Promise<void>;
}

export interface ScannerOptions {
  /** The time limit of one text, in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number | undefined;
}

/** @throws ResourceError `invalid` where the library is not installed */
export function createScanner({ timeoutMs = MAX_SCAN_MS }: ScannerOptions = {}): Scanner {
  const data = scanProgramData(...libraries());
  const queue = createFairQueue({
    places: THREADS,
    maxWaiting: MAX_WAITING,
    maxWaitingBytes: MAX_WAITING_BYTES,
    busy: 'Too much is being looked through for secrets; try again later',
    limit: 'redact',
  });
  const threads = new Set<ScanThread>();
  const idle = new Map<ScanThread, NodeJS.Timeout>();
  let closed = false;

  function take(): ScanThread {
    for (const [kept, timer] of idle) {
      clearTimeout(timer);
      idle.delete(kept);
      if (!kept.ended) return kept;
      threads.delete(kept);
    }
    const thread = startScanThread(data, timeoutMs);
    threads.add(thread);
    return thread;
  }

  function put(thread: ScanThread): void {
    const end = (): void => {
      idle.delete(thread);
      threads.delete(thread);
      void thread.end();
    };
    if (thread.ended || closed) end();
    else idle.set(thread, setTimeout(end, IDLE_MS).unref());
  }

  /** Scans on a thread. The place is released only when the thread is free, even if no caller waits for the text any more. */
  async function look(bytes: Uint8Array, release: () => void): Promise<readonly Finding[]> {
    const thread = take();
    try {
      return await thread.scan(bytes);
    } finally {
      put(thread);
      release();
    }
  }

  return {
    async scan(bytes, { principal, signal }) {
      signal.throwIfAborted();
      if (closed) throw scanFailed(undefined);
      if (bytes.byteLength === 0) return [];
      const release = await queue.take(principal.id, signal, bytes.byteLength);
      if (closed || signal.aborted) {
        release();
        throw closed ? scanFailed(undefined) : signal.reason;
      }
      return await abortable(look(bytes, release), signal);
    },
    async close() {
      closed = true;
      queue.close(scanFailed(undefined));
      for (const timer of idle.values()) clearTimeout(timer);
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

function libraries(): [core: string, preset: string] {
  const { resolve } = createRequire(import.meta.url);
  const [core, preset] = PACKAGES;
  try {
    return [pathToFileURL(resolve(core)).href, pathToFileURL(resolve(preset)).href];
  } catch (cause) {
    throw missingPackage('To redact secrets, install what finds them', PACKAGES, { cause });
  }
}
