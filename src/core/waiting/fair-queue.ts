/**
 * Places of what callers share (connections, processes, threads, questions to another server), and those who wait for one.
 *
 * Each caller has a line of its own, first come, first served; the lines take turns. So a caller who asks for much waits
 * behind itself, and delays another one by a single job for each place. Jobs are not interrupted, so a caller that is not
 * alone never has all places: of four one is kept for others, of a hundred twenty-five. With one place only there is none
 * to keep; then others wait until the job that has it is over, and come next.
 */
import { overLimit } from '../admission.ts';
import { ANONYMOUS } from '../context.ts';
import { createLine, type Line, type Standing } from './line.ts';

/** Who asks: the id of a principal, or another name where there is no principal yet. */
export type Caller = string | symbol;

/** The server as a caller, for work of its own such as looking for changes; it takes turns with the others. */
export const SERVER: unique symbol = Symbol('server');

/** One place of so many is kept for others than a caller who has the rest. */
const KEPT_OF = 4;

/** Of those who may wait in all, one caller may be one of so many. */
const SHARE_OF = 4;

/** How long somebody waits for a place, in milliseconds, unless it is said otherwise. */
export const MAX_WAIT_MS = 15_000;

/** When it is worth trying again after a refusal, in milliseconds. */
const RETRY_MS = 1_000;

export interface FairQueueOptions {
  /** How many jobs run at a time. */
  readonly places: number;
  /** With fewer places than this none is kept for others: where one job may need two at once. Default: 2. */
  readonly keepsFrom?: number | undefined;
  /** Who waits in all; a quarter of them for one caller, unless it is alone. */
  readonly maxWaiting: number;
  /** Bytes that those who wait hold in all, likewise. Default: they are not counted. */
  readonly maxWaitingBytes?: number | undefined;
  /** How long one waits, in milliseconds. Default: `MAX_WAIT_MS`. */
  readonly maxWaitMs?: number | undefined;
  /** For the error of those who get no place: what is wrong. */
  readonly busy: string;
  /** For the same error: which option says how many places there are. */
  readonly limit: string;
}

export interface FairQueue {
  /**
   * Waits for a place. What it resolves with gives the place back, once.
   * @param bytes that are held while it waits
   * @throws ResourceError `limited` with `retryAfterMs`, when too many wait or it has waited for too long; the reason of
   *   the signal; what the queue was closed with
   */
  take(caller: Caller, signal: AbortSignal, bytes?: number): Promise<() => void>;
  /** Who has a place, and who waits. */
  readonly running: number;
  readonly waiting: number;
  /** Refuses those who wait, and whoever comes. */
  close(error: Error): void;
}

/** A caller who has a place or waits for one. */
interface Lane {
  readonly caller: Caller;
  readonly line: Line<Waiting>;
  running: number;
  bytes: number;
  /** Its place among those whose turn it may be. */
  turn: Standing<Lane> | undefined;
}

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { places, maxWaiting, maxWaitingBytes = Number.POSITIVE_INFINITY, maxWaitMs = MAX_WAIT_MS } = options;
  const kept = places < (options.keepsFrom ?? 2) ? 0 : Math.max(1, Math.floor(places / KEPT_OF));
  /** Bounded by those who run and wait: a lane without either is gone. */
  const lanes = new Map<Caller, Lane>();
  const turns: Line<Lane> = createLine();
  let running = 0;
  let waiting = 0;
  let waitingBytes = 0;
  /** Others than the only caller of a server without authorization have been here. */
  let shared = false;
  let closed: Error | undefined;

  const refusal = (): Error => overLimit(options.busy, options.limit, RETRY_MS);
  const mostRunning = (): number => (shared ? places - kept : places);

  function laneOf(caller: Caller): Lane {
    const known = lanes.get(caller);
    if (known !== undefined) return known;
    const lane: Lane = { caller, line: createLine(), running: 0, bytes: 0, turn: undefined };
    lanes.set(caller, lane);
    return lane;
  }

  /** Gets it in line for a turn where it waits and may run; forgets it where it does neither. */
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
    let given = false;
    return () => {
      if (given) return;
      given = true;
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
      // Behind the others, where it has more to do.
      arrange(lane);
    }
  }

  /** The first one of each caller is let in beyond the limit, up to as many again: the others may have used it up. */
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
        lane.line.leave(standing);
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
      const standing = lane.line.join({ bytes, enter, refuse });
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
      // If a place is free, nobody waits who could have it.
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
