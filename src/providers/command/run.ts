/**
 * Runs a program once, for one or several readers. A reader can join as long as the beginning of the output is still kept,
 * and then reads the whole output. The program waits for the slowest reader, and is ended when the last reader leaves.
 */
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Ended, type Running, startProgram } from './process.ts';
import type { Program } from './programs.ts';

/**
 * Bytes of output that are kept from the beginning, for readers that join later. Beyond them, the program is held up while
 * its slowest reader is more than so many bytes behind.
 */
export const KEPT_BYTES = 256 * 1024;

/** Reads the output of a run from its beginning. Each caller needs a reader of its own. */
export interface Reader {
  /** Returns the next bytes; undefined at the end. @throws ResourceError, or the reason of the signal */
  next(signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Returns the whole output if it has at most so many bytes, else undefined. `next` still begins at the beginning. */
  whole(maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Ends the reading. Safe to call twice, and after the end. */
  leave(): void;
}

/**
 * Waits until a program may run. Returns a function to call when the program has ended.
 * @throws ResourceError when too many programs wait; the reason of the signal
 */
type Begin = (signal: AbortSignal) => Promise<() => void>;

export interface Run {
  /** Returns a new reader; undefined if the beginning of the output is no longer kept, or the run has failed. */
  join(): Reader | undefined;
  /** Resolves when the output is complete. Rejects if the run fails. */
  readonly complete: Promise<void>;
  /** Resolves when the program, if it was started, has ended with its process group. Never rejects. */
  readonly over: Promise<void>;
  stop(): void;
}

export function startRun(program: Program, begin: Begin, log: Log): Run {
  const readers = new Set<{ at: number }>();
  const ending = new AbortController();
  /** The chunks of output from the beginning, or from the slowest reader on; `first` is the index of the first one. */
  let chunks: Uint8Array[] = [];
  let first = 0;
  /** Bytes that the program has written. */
  let total = 0;
  let outcome: { readonly error?: ResourceError | undefined } | undefined;
  let running: Running | undefined;
  let waiting: (() => void)[] = [];

  /** Resolves at the next call of `wakeAll`. */
  const woken = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
  const wakeAll = (): void => {
    const sleepers = waiting;
    waiting = [];
    for (const wake of sleepers) wake();
  };
  const settle = (error?: ResourceError): void => {
    outcome ??= { error };
    if (error !== undefined) ending.abort();
    running?.stop();
    wakeAll();
  };
  const failure = (): ResourceError | undefined => outcome?.error;
  /** The position of the reader that has read least. */
  const slowest = (): number => Math.min(first + chunks.length, ...[...readers].map(({ at }) => at));
  const heldBytes = (): number => {
    let bytes = 0;
    for (const chunk of chunks.slice(Math.max(0, slowest() - first))) bytes += chunk.byteLength;
    return bytes;
  };

  /** Drops the chunks that all readers have read, once there is more output than is kept from the beginning. */
  function drop(): void {
    if (total <= KEPT_BYTES) return;
    const read = slowest() - first;
    chunks = chunks.slice(read);
    first += read;
  }

  async function pump({ stdout }: Running): Promise<void> {
    for await (const chunk of stdout) {
      total += (chunk as Uint8Array).byteLength;
      if (total > program.maxBytes) {
        const details = { limit: program.maxBytes };
        return settle(new ResourceError('too-large', 'The program wrote more than it may', { details }));
      }
      chunks.push(chunk as Uint8Array);
      wakeAll();
      drop();
      while (outcome === undefined && total > KEPT_BYTES && heldBytes() > KEPT_BYTES) await woken();
    }
  }

  async function execute(): Promise<void> {
    let release: () => void;
    try {
      release = await begin(ending.signal);
    } catch (error) {
      return settle(error instanceof ResourceError ? error : endedEarly());
    }
    if (outcome !== undefined) return release();
    const started = startProgram(program);
    running = started;
    const timer = setTimeout(
      () => settle(new ResourceError('timeout', 'The program took longer than it may')),
      program.timeoutMs,
    );
    try {
      await pump(started).catch(() => {});
      const ended = await started.ended;
      report(ended, program, log, failure());
      settle(failureOf(ended));
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  const over = execute();

  function join(): Reader | undefined {
    if (first > 0 || outcome?.error !== undefined) return undefined;
    const reader = { at: 0 };
    readers.add(reader);
    const wait = async (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      const next = woken();
      // An abort wakes all readers. The others see that nothing has changed, and wait again.
      signal.addEventListener('abort', wakeAll, { once: true });
      await next;
      signal.removeEventListener('abort', wakeAll);
      signal.throwIfAborted();
    };
    return {
      async next(signal) {
        for (;;) {
          signal.throwIfAborted();
          if (outcome?.error !== undefined) throw outcome.error;
          const chunk = chunks[reader.at - first];
          if (chunk !== undefined) {
            reader.at++;
            drop();
            wakeAll();
            return chunk;
          }
          if (outcome !== undefined) return undefined;
          await wait(signal);
        }
      },
      async whole(maxBytes, signal) {
        while (outcome === undefined && total <= maxBytes) await wait(signal);
        if (outcome?.error !== undefined) throw outcome.error;
        return outcome !== undefined && total <= maxBytes && first === 0 ? Buffer.concat(chunks) : undefined;
      },
      leave() {
        if (!readers.delete(reader)) return;
        if (readers.size === 0 && outcome === undefined) settle(endedEarly());
        else wakeAll();
      },
    };
  }

  return {
    join,
    complete: (async () => {
      while (outcome === undefined) await woken();
      if (outcome.error !== undefined) throw outcome.error;
    })(),
    over,
    stop: () => settle(endedEarly()),
  };
}

const endedEarly = (): ResourceError => new ResourceError('unavailable', 'The program was ended');

function failureOf({ code, error }: Ended): ResourceError | undefined {
  if (error !== undefined) return new ResourceError('unavailable', 'The program cannot be started', { cause: error });
  return code === 0 ? undefined : new ResourceError('unavailable', 'The program failed');
}

/** Writes the exit status and standard error to the log. Clients never get them, since they may tell about the machine. */
function report({ code, signal, stderr, error }: Ended, { argv }: Program, log: Log, why: Error | undefined): void {
  const facts = { program: argv[0], code, signal, stderr, error: error?.message, why: why?.message };
  if (code !== 0) log.warn('a program failed', facts);
  else if (stderr !== '') log.debug('a program wrote to standard error', facts);
}
