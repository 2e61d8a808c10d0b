/**
 * Writes audit lines beside everything else: an operation puts its line into a queue and goes on. Lines are chained as
 * they are written, so that what found no place in the queue is no gap: it is counted, and the count is a line.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/context.ts';
import { chainLine } from './chain.ts';
import type { AuditOutput } from './output.ts';
import { jsonOf } from './record.ts';

/** Characters of lines that may wait, about 25,000 lines; further ones are lost, and counted. */
export const MAX_QUEUED = 8 * 1024 * 1024;

/** Bytes that are written at once. */
const CHUNK_BYTES = 65_536;

/** Lines wait this long for others to be written with them, in milliseconds. */
const LINGER_MS = 10;

/** Between two tries to write, in milliseconds. */
const RETRY_MS = 250;

/** How long the end of a server waits for its lines, in milliseconds. */
const CLOSE_MS = 3_000;

export interface Journal {
  /** Takes a line; never waits. */
  add(record: object): void;
  /** Writes what waits. Gives up, and says so in the log, where that is not possible in time. */
  close(): Promise<void>;
}

interface Chunk {
  /** What is left of it to be written. */
  rest: Uint8Array;
  /** The file has no room for the line after it. */
  readonly full: boolean;
}

export function createJournal(output: AuditOutput, log: Log, maxQueued = MAX_QUEUED): Journal {
  let queue: string[] = [];
  let queued = 0;
  let lost = 0;
  let link = output.last;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failing = false;
  let gaveUp = false;
  const closing = new AbortController();

  const push = (json: string): void => {
    queue.push(json);
    queued += json.length;
  };
  const event = (name: string, facts: object = {}): string =>
    jsonOf({ time: new Date().toISOString(), event: name, ...facts });
  /** What was lost stands where it would have been: after all that was there before. */
  const confess = (): void => {
    if (lost === 0) return;
    push(event('lost', { count: lost }));
    lost = 0;
  };

  function add(record: object): void {
    // After the end there is no line: nothing may stand behind it, and the file is another one's by then.
    if (closing.signal.aborted) return;
    const json = jsonOf(record);
    if (queued + json.length > maxQueued) {
      if (lost++ === 0) log.error('audit: lines are lost, since they cannot be written fast enough');
      return;
    }
    confess();
    push(json);
    if (queued >= CHUNK_BYTES) start();
    else if (running === undefined) timer ??= setTimeout(start, LINGER_MS);
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (gaveUp) return;
    running ??= drain().finally(() => {
      running = undefined;
      if (queue.length > 0 && !closing.signal.aborted && !gaveUp) timer ??= setTimeout(start, LINGER_MS);
    });
  }

  async function drain(): Promise<void> {
    let full = false;
    do {
      const chunk = nextChunk();
      full = chunk.full;
      if (!(await persist(() => writeRest(chunk)))) return;
      if (full) {
        if (!(await persist(() => output.rotate()))) return;
        const json = event('rotated');
        queue.unshift(json);
        queued += json.length;
      }
      if (queue.length === 0) confess();
    } while (full || queued >= CHUNK_BYTES || (closing.signal.aborted && queue.length > 0));
  }

  /** Takes lines off the queue, as many as are written at once and the file has room for. */
  function nextChunk(): Chunk {
    const lines: string[] = [];
    let size = 0;
    let full = false;
    for (const json of queue) {
      const next = chainLine(json, link);
      const bytes = Buffer.byteLength(next.line);
      const at = output.size() + size;
      full = at > 0 && at + bytes > output.maxBytes;
      if (full || (size > 0 && size + bytes > CHUNK_BYTES)) break;
      link = next.link;
      size += bytes;
      queued -= json.length;
      lines.push(next.line);
    }
    queue = queue.slice(lines.length);
    return { rest: Buffer.from(lines.join('')), full };
  }

  async function writeRest(chunk: Chunk): Promise<void> {
    while (chunk.rest.byteLength > 0) chunk.rest = chunk.rest.subarray(await output.write(chunk.rest));
  }

  /** Tries until it works: a full disk may have room again. False when the server ended before that. */
  async function persist(run: () => Promise<void>): Promise<boolean> {
    while (!gaveUp) {
      try {
        await run();
        if (failing) log.warn('audit: lines are written again');
        failing = false;
        return true;
      } catch (error) {
        const busy = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!failing && !busy) log.error('audit: lines cannot be written, and wait', { error });
        failing ||= !busy;
        gaveUp ||= closing.signal.aborted && !busy;
        await pause(busy ? LINGER_MS : RETRY_MS, undefined, { signal: closing.signal }).catch(() => pause(LINGER_MS));
      }
    }
    return false;
  }

  async function end(): Promise<void> {
    await running;
    start();
    await running;
    await output.close().catch((error: unknown) => log.error('audit: the file could not be closed', { error }));
  }

  // Where a file was put away and the process ended before it began the next.
  if (output.size() === 0 && link.seq > 0) push(event('rotated'));
  push(event('start', { pid: process.pid, ...(output.cut > 0 && { cut: output.cut }) }));
  start();

  return {
    add,
    async close() {
      if (closing.signal.aborted) return;
      confess();
      push(event('end'));
      closing.abort();
      const patience = new AbortController();
      const late = pause(CLOSE_MS, undefined, { signal: patience.signal }).then(
        () => {
          gaveUp = true;
        },
        () => {},
      );
      await Promise.race([end(), late]);
      patience.abort();
      if (gaveUp) log.error('audit: the last lines could not be written');
    },
  };
}
