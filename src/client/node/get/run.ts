/** Reads many resources concurrently, up to a limit, and counts the outcomes. */
import { clientError, ResourceClientError } from '../../errors.ts';
import type { WalkReport, WalkStop } from '../../walk.ts';
import {
  DEFAULT_GET_CONCURRENCY,
  DEFAULT_MAX_TOTAL_BYTES,
  type GetEntry,
  type GetOptions,
  type GetProgress,
} from './report.ts';

/** After this many consecutive failures to reach the server, the run ends. */
const MAX_UNAVAILABLE = 8;

export interface Run {
  /** Aborted by the caller, and when the run cannot continue. */
  readonly signal: AbortSignal;
  /** Starts a task, and waits until another one may start. @param optional whether a refusal of the server is no failure */
  start(task: () => Promise<GetEntry>, uri: string, optional: boolean): Promise<void>;
  done(entry: GetEntry): void;
  /** Counts a resource that was found. */
  found(): void;
  /** Says that no more resources will be found. */
  foundAll(): void;
  /** Counts bytes that were read. @throws the error that ends the run when there are too many */
  count(bytes: number): void;
  stopped(stop: WalkStop): void;
  /** Waits for all started tasks. @throws the reason why the run cannot continue */
  settle(): Promise<void>;
  progress(): GetProgress;
  readonly stops: WalkReport['stopped'];
  readonly overTotal: boolean;
}

export function createRun(options: GetOptions): Run {
  const { concurrency = DEFAULT_GET_CONCURRENCY, maxTotalBytes = DEFAULT_MAX_TOTAL_BYTES } = options;
  const end = new AbortController();
  const signal = options.signal === undefined ? end.signal : AbortSignal.any([options.signal, end.signal]);
  const running = new Set<Promise<void>>();
  const counts = { written: 0, unchanged: 0, skipped: 0, planned: 0, failed: 0, found: 0, bytes: 0, foundAll: false };
  const stops: Partial<Record<WalkStop['reason'], number>> = {};
  let unavailable = 0;
  let overTotal = false;

  const progress = (): GetProgress => ({ ...counts });

  function done(entry: GetEntry): void {
    counts[entry.status]++;
    options.onEntry?.(entry);
    options.onProgress?.(progress());
  }

  function failed(uri: string, error: unknown, optional: boolean): void {
    // A resource that was interrupted by the end of the run is neither failed nor skipped.
    if (signal.aborted) return;
    const { code } = error as { readonly code?: unknown };
    const ofDisk = !(error instanceof ResourceClientError) && typeof code === 'string' && /^E[A-Z]+$/.test(code);
    if (ofDisk) {
      done({ uri, status: 'failed', reason: `The file cannot be written (${code})` });
      return;
    }
    const told = clientError(error, { uri });
    unavailable = told.code === 'unavailable' || told.code === 'closed' ? unavailable + 1 : 0;
    if (unavailable >= MAX_UNAVAILABLE || told.code === 'closed') end.abort(told);
    if (optional && NO_CONTENTS.has(told.code)) done({ uri, status: 'skipped', reason: told.message });
    else done({ uri, status: 'failed', reason: told.message, code: told.code });
  }

  return {
    signal,
    async start(task, uri, optional) {
      signal.throwIfAborted();
      const work = task()
        .then(
          (entry) => {
            unavailable = 0;
            done(entry);
          },
          (error: unknown) => failed(uri, error, optional),
        )
        .finally(() => running.delete(work));
      running.add(work);
      if (running.size >= Math.max(1, concurrency)) await Promise.race(running);
      signal.throwIfAborted();
    },
    done,
    found: () => void counts.found++,
    foundAll() {
      counts.foundAll = true;
    },
    count(bytes) {
      counts.bytes += bytes;
      if (counts.bytes <= maxTotalBytes) return;
      overTotal = true;
      end.abort(OVER_TOTAL);
      throw OVER_TOTAL;
    },
    stopped({ reason }) {
      stops[reason] = (stops[reason] ?? 0) + 1;
    },
    async settle() {
      await Promise.all(running);
      signal.throwIfAborted();
    },
    progress,
    stops,
    get overTotal() {
      return overTotal;
    },
  };
}

/** The reason of a run that reached its limit of bytes. It is not an error, and is in the report. */
export const OVER_TOTAL = new ResourceClientError('too-large', 'All resources together exceed the limit of bytes');

/** Error codes of servers for a container that cannot be read. */
const NO_CONTENTS: ReadonlySet<string> = new Set(['not-found', 'invalid', 'invalid-answer', 'unsupported', 'failed']);
