/**
 * Shares a limited number of places (connections, processes, threads, requests to another server) fairly between callers.
 *
 * Each caller has its own line, first come, first served, and the lines take turns. So a caller with many jobs mostly waits for
 * its own, and delays another caller by at most one job for each place. Jobs are not interrupted; therefore, once a caller with
 * an identity has come, no caller gets all places: one of four is kept for the others, twenty-five of a hundred. A single place
 * cannot be kept: other callers wait until its job ends, and then come next.
 */
import { overLimit } from '../admission.ts';
import { ANONYMOUS } from '../context.ts';
import { createLine, type Line, type QueuePlace } from './line.ts';

/** A caller: the id of a principal, or another name if there is no principal yet. */
export type Caller = string | symbol;

/** The server itself as a caller, for its own work such as looking for changes. It takes turns with the other callers. */
export const SERVER: unique symbol = Symbol('server');

/** One place of so many is kept, so that one caller cannot take all places. */
const KEPT_OF = 4;

/** One caller may have one of so many of the jobs that may wait in all. */
const SHARE_OF = 4;

/** How long a job waits for a place by default, in milliseconds. */
export const MAX_WAIT_MS = 15_000;

/** When a refused caller should try again, in milliseconds. */
const RETRY_MS = 1_000;

export interface FairQueueOptions {
  /** How many jobs run at a time. */
  readonly places: number;
  /** With fewer places than this, none is kept for others. Raise it if one job may need two places at once. Default: 2. */
  readonly keepsFrom?: number | undefined;
  /** The most jobs that wait in all. Once a caller with an identity has come, one caller may have a quarter of them. */
  readonly maxWaiting: number;
  /** The most bytes that waiting jobs hold in all, shared in the same way. Default: they are not counted. */
  readonly maxWaitingBytes?: number | undefined;
  /** How long a job waits, in milliseconds. Default: `MAX_WAIT_MS`. */
  readonly maxWaitMs?: number | undefined;
  /** The first part of the error when there is no place: what is wrong. */
  readonly busy: string;
  /** The option that sets the number of places, for the same error. */
  readonly limit: string;
}

export interface FairQueue {
  /**
   * Waits for a place. Resolves with a function that gives the place back; calling it again does nothing.
   * @param bytes the bytes that the job holds while it waits. Default: 0
   * @throws ResourceError `limited` with `retryAfterMs`, if too many jobs wait or this one has waited too long; the reason of
   *   the signal; the error that the queue was closed with
   */
  take(caller: Caller, signal: AbortSignal, bytes?: number): Promise<() => void>;
  /** The number of jobs that have a place. */
  readonly running: number;
  /** The number of jobs that wait. */
  readonly waiting: number;
  /** Refuses all waiting and all later jobs with this error. */
  close(error: Error): void;
}

/** A caller that has a place or waits for one. */
interface Lane {
  readonly caller: Caller;
  readonly line: Line<Waiting>;
  running: number;
  bytes: number;
  /** The lane's position among those that wait for a turn; undefined if it does not. */
  turn: QueuePlace<Lane> | undefined;
}

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { places, maxWaiting, maxWaitingBytes = Number.POSITIVE_INFINITY, maxWaitMs = MAX_WAIT_MS } = options;
  const kept = places < (options.keepsFrom ?? 2) ? 0 : Math.max(1, Math.floor(places / KEPT_OF));
  /** Limited by the jobs that run or wait: a lane without any is removed. */
  const lanes = new Map<Caller, Lane>();
  const turns: Line<Lane> = createLine();
  let running = 0;
  let waiting = 0;
  let waitingBytes = 0;
  /** Whether a caller with an identity has come. Without authorization, all callers are anonymous and count as one. */
  let shared = false;
  let closed: Error | undefined;

  const refusal = (): Error => overLimit(options.busy, options.limit, RETRY_MS);
  const mostRunning = (): number => (shared ? places - kept : places);

  function laneOf(caller: Caller): Lane {
    const existing = lanes.get(caller);
    if (existing !== undefined) return existing;
    const lane: Lane = { caller, line: createLine(), running: 0, bytes: 0, turn: undefined };
    lanes.set(caller, lane);
    return lane;
  }

  /** Puts a lane in line for a turn if it waits and may run, and removes it if it neither waits nor runs. */
  function arrange(lane: Lane): void {
    const waits = lane.line.length > 0;
    if (waits && lane.running < mostRunning()) lane.turn ??= turns.join(lane);
    else if (lane.turn !== undefined) {
      turns.leave(lane.turn);
      lane.turn = undefined;
    }
    if (!waits && lane.running === 0) lanes.delete(lane.caller);
  }

  function begin(lane: Lane): () => void {
    running++;
    lane.running++;
    let returned = false;
    return () => {
      if (returned) return;
      returned = true;
      running--;
      lane.running--;
      arrange(lane);
      next();
    };
  }

  function next(): void {
    while (running < places) {
      const lane = turns.shift();
      if (lane === undefined) return;
      lane.turn = undefined;
      if (lane.running < mostRunning()) lane.line.first?.enter();
      // If the lane has more jobs, it goes to the end of the line.
      arrange(lane);
    }
  }

  /** The first job of each caller may wait beyond the limit, up to twice the limit, since others may have used it up. */
  function isFull(lane: Lane, bytes: number): boolean {
    const share = shared ? SHARE_OF : 1;
    const isFirst = lane.line.length === 0;
    if (waiting === 0) return maxWaiting === 0;
    if (!isFirst && (lane.line.length >= maxWaiting / share || lane.bytes + bytes > maxWaitingBytes / share))
      return true;
    const times = isFirst && shared ? 2 : 1;
    return waiting >= times * maxWaiting || waitingBytes + bytes > times * maxWaitingBytes;
  }

  function wait(lane: Lane, signal: AbortSignal, bytes: number): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        lane.line.leave(place);
        lane.bytes -= bytes;
        waiting--;
        waitingBytes -= bytes;
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const refuse = (error: unknown): void => {
        leave();
        arrange(lane);
        reject(error);
      };
      const enter = (): void => {
        leave();
        resolve(begin(lane));
      };
      const abort = (): void => refuse(signal.reason);
      const place = lane.line.join({ bytes, enter, refuse });
      const timer = setTimeout(() => refuse(refusal()), maxWaitMs);
      lane.bytes += bytes;
      waiting++;
      waitingBytes += bytes;
      signal.addEventListener('abort', abort, { once: true });
      arrange(lane);
    });
  }

  return {
    async take(caller, signal, bytes = 0) {
      signal.throwIfAborted();
      if (closed !== undefined) throw closed;
      shared ||= caller !== SERVER && caller !== ANONYMOUS.id;
      const lane = laneOf(caller);
      // As long as a place is free, no job waits that could take it.
      if (running < places && lane.line.length === 0 && lane.running < mostRunning()) return begin(lane);
      if (!isFull(lane, bytes)) return await wait(lane, signal, bytes);
      arrange(lane);
      throw refusal();
    },
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    close(error) {
      closed ??= error;
      for (const { line } of [...lanes.values()]) while (line.first !== undefined) line.first.refuse(closed);
    },
  };
}
