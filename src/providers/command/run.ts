/**
 * One run of a program, read by one or several: who comes while its beginning is still there reads the same output. The
 * program is held up by the slowest reader, and is ended when the last one leaves.
 */
import type { Log } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Ended, type Running, startProgram } from './process.ts';
import type { Program } from './programs.ts';

/** Bytes at the beginning that are kept for those who come later, and that a reader may be behind another. */
export const KEPT_BYTES = 256 * 1024;

/** One who reads a run. Not to be shared. */
export interface Reader {
  /** The next bytes; undefined at the end. @throws ResourceError, or the reason of the signal */
  next(signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** All of it where it ends within so many bytes; undefined where it goes on. Nothing is taken by that. */
  whole(maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Safe to call twice, and after the end. */
  leave(): void;
}

/** @throws ResourceError where too many wait; the reason of the signal */
type Begin = (signal: AbortSignal) => Promise<() => void>;

export interface Run {
  /** Undefined where the beginning is gone, or it failed. */
  join(): Reader | undefined;
  /** When the output is complete. */
  readonly complete: Promise<void>;
  /** When nothing of it is running any more. Never rejects. */
  readonly over: Promise<void>;
  stop(): void;
}

/** @param begin resolves when it may run, with what is called when it is over */
export function startRun(program: Program, begin: Begin, log: Log): Run {
  const readers = new Set<{ at: number }>();
  const ending = new AbortController();
  /** Those of the beginning, or from the slowest reader on. */
  let chunks: Uint8Array[] = [];
  let first = 0;
  let total = 0;
  let outcome: { readonly error?: ResourceError | undefined } | undefined;
  let running: Running | undefined;
  let waiting: (() => void)[] = [];

  const stirred = (): Promise<void> => new Promise((resolve) => void waiting.push(resolve));
  const stir = (): void => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  const settle = (error?: ResourceError): void => {
    outcome ??= { error };
    if (error !== undefined) ending.abort();
    running?.stop();
    stir();
  };
  const failure = (): ResourceError | undefined => outcome?.error;
  /** The one who has read least. */
  const slowest = (): number => Math.min(first + chunks.length, ...[...readers].map(({ at }) => at));
  const heldBytes = (): number => {
    let bytes = 0;
    for (const chunk of chunks.slice(Math.max(0, slowest() - first))) bytes += chunk.byteLength;
    return bytes;
  };

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
      stir();
      drop();
      while (outcome === undefined && total > KEPT_BYTES && heldBytes() > KEPT_BYTES) await stirred();
    }
  }

  async function go(): Promise<void> {
    let release: () => void;
    try {
      release = await begin(ending.signal);
    } catch (error) {
      return settle(error instanceof ResourceError ? error : gone());
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

  const over = go();

  function join(): Reader | undefined {
    if (first > 0 || outcome?.error !== undefined) return undefined;
    const own = { at: 0 };
    readers.add(own);
    const wait = async (signal: AbortSignal): Promise<void> => {
      signal.throwIfAborted();
      const woken = stirred();
      // Whoever gives up wakes the others, who see that nothing has changed.
      signal.addEventListener('abort', stir, { once: true });
      await woken;
      signal.removeEventListener('abort', stir);
      signal.throwIfAborted();
    };
    return {
      async next(signal) {
        for (;;) {
          signal.throwIfAborted();
          if (outcome?.error !== undefined) throw outcome.error;
          const chunk = chunks[own.at - first];
          if (chunk !== undefined) {
            own.at++;
            drop();
            stir();
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
        if (!readers.delete(own)) return;
        if (readers.size === 0 && outcome === undefined) settle(gone());
        else stir();
      },
    };
  }

  return {
    join,
    complete: (async () => {
      while (outcome === undefined) await stirred();
      if (outcome.error !== undefined) throw outcome.error;
    })(),
    over,
    stop: () => settle(gone()),
  };
}

const gone = (): ResourceError => new ResourceError('unavailable', 'The program was ended');

function failureOf({ code, error }: Ended): ResourceError | undefined {
  if (error !== undefined) return new ResourceError('unavailable', 'The program cannot be started', { cause: error });
  return code === 0 ? undefined : new ResourceError('unavailable', 'The program failed');
}

/** Exit status and standard error are for the log alone: what is in them is nobody else's business. */
function report({ code, signal, stderr, error }: Ended, { argv }: Program, log: Log, why: Error | undefined): void {
  const facts = { program: argv[0], code, signal, stderr, error: error?.message, why: why?.message };
  if (code !== 0) log.warn('a program failed', facts);
  else if (stderr !== '') log.debug('a program wrote to standard error', facts);
}
