/**
 * Writes audit lines beside everything else: an operation puts its line into a queue and goes on. Lines are chained as
 * they are written, so that what found no place in the queue is no gap: it is counted, and the count is a line.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../core/context.ts';
import { inTime, LATE } from '../../core/waiting/in-time.ts';
import { type ChainedLine, chainLine, type Link, unchain } from './chain.ts';
import { asciiMembers } from './json.ts';
import type { AuditOutput, Interference, Renewed } from './output.ts';

/** The most bytes of lines that may wait, about 15,000 lines; further ones are lost, and counted. */
export const MAX_QUEUED = 8 * 1024 * 1024;

/** Bytes that are written at once. */
const CHUNK_BYTES = 65_536;

/** The most records that have no line yet: to make lines many at a time takes far less than to make each beside other work. */
const MAX_UNMADE = 64;

/** Records wait this long for others to be written with them, in milliseconds. */
const LINGER_MS = 50;

/** Between two tries to write, in milliseconds. */
const RETRY_MS = 250;

/** How long the end of a server waits for its lines, in milliseconds. */
const CLOSE_MS = 3_000;

export interface Journal<T extends object> {
  /** Takes a line; never waits. */
  add(record: T): void;
  /** The last line that has been written. */
  head(): Link;
  /** Writes what waits. Gives up, and says so in the log, where that is not possible in time. */
  close(): Promise<void>;
}

/** Lines as bytes, in memory that the garbage collector need not look through. */
interface Chunk {
  readonly buffer: Buffer;
  /** Bytes of it that have lines: the next one goes there. */
  used: number;
  /** Bytes of it that are in the file. */
  written: number;
  /** The file has no room for the line after it. */
  full: boolean;
}

/** All of it is ASCII. */
const bytesOf = ({ text, seal }: ChainedLine): number => text.length + seal.length;

const emptyChunk = (bytes: number): Chunk => ({
  buffer: Buffer.allocUnsafe(Math.max(CHUNK_BYTES, bytes)),
  used: 0,
  written: 0,
  full: false,
});

/** Of the line with which a file would have begun: another one does. */
const ROTATED = /^"time":"[^"]*","event":"rotated","first":\d+$/;

const HAPPENED: Readonly<Record<Interference, string>> = {
  deleted: 'the file was deleted while it was written; a new one is begun',
  renamed: 'the file was renamed while it was written; a new one is begun',
  replaced: 'the file was replaced while it was written; lines go to the one that is there',
  truncated: 'the file was cut while it was written; lines follow what is left',
  appended: 'something else writes to the file',
};

export interface JournalOptions<T extends object> {
  /** A record as the members of an object in JSON, on one line of ASCII. Default: whatever it has. */
  readonly membersOf?: ((record: T) => string) | undefined;
  /** Default: 8 MiB. */
  readonly maxQueued?: number | undefined;
}

export function createJournal<T extends object>(
  output: AuditOutput,
  log: Log,
  { membersOf = asciiMembers, maxQueued = MAX_QUEUED }: JournalOptions<T> = {},
): Journal<T> {
  let chunk = emptyChunk(0);
  /** The oldest first; the last one is what lines are added to. */
  const chunks: Chunk[] = [chunk];
  /** Written, and there for what comes next: two take turns. */
  let spare: Chunk | undefined;
  const unmade: T[] = [];
  let queued = 0;
  /** Bytes of the file when all that waits for it is written. */
  let planned = output.size();
  let lost = 0;
  let link = output.last;
  let written = output.last;
  /** The numbers of the lines with which the files that are kept begin, the oldest first. */
  let beginnings = output.beginnings();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failing = false;
  let gaveUp = false;
  const closing = new AbortController();

  /** Puts a line behind the others, and the file away before it where that has no room. */
  const push = (members: string): void => {
    let next = chainLine(members, link);
    let bytes = bytesOf(next);
    if (planned > 0 && planned + bytes > output.maxBytes) {
      chunk.full = true;
      planned = 0;
      begin(0);
      push(firstOfFile('rotated'));
      next = chainLine(members, link);
      bytes = bytesOf(next);
    }
    if (chunk.used + bytes > chunk.buffer.byteLength) begin(bytes);
    chunk.used += chunk.buffer.write(next.text, chunk.used, 'latin1');
    chunk.used += chunk.buffer.write(next.seal, chunk.used, 'latin1');
    link = next.link;
    planned += bytes;
    queued += bytes;
  };
  const begin = (bytes: number): void => {
    chunk = spare !== undefined && spare.buffer.byteLength >= bytes ? spare : emptyChunk(bytes);
    spare = undefined;
    chunks.push(chunk);
  };
  const event = (name: string, facts: object = {}): string =>
    asciiMembers({ time: new Date().toISOString(), event: name, ...facts });
  /** A line that begins a file, and says from which number on lines are kept. */
  const firstOfFile = (name: string, facts: object = {}): string => {
    beginnings = [...beginnings, link.seq + 1].slice(-output.maxFiles);
    return event(name, { first: beginnings[0], ...facts });
  };
  /** Writes how many lines were lost, where they would have been: after all lines before them. */
  const confess = (): void => {
    if (lost === 0) return;
    const count = lost;
    lost = 0;
    push(event('lost', { count }));
  };

  function makeLines(): void {
    for (const record of unmade) makeLine(record);
    unmade.length = 0;
  }

  function makeLine(record: T): void {
    const members = membersOf(record);
    if (queued + members.length > maxQueued) {
      if (lost++ === 0) log.error('audit: lines are lost, since they cannot be written fast enough');
      return;
    }
    confess();
    push(members);
  }

  function add(record: T): void {
    // After the end there is no line: nothing may stand behind it, and the file is another one's by then.
    if (closing.signal.aborted) return;
    unmade.push(record);
    if (unmade.length >= MAX_UNMADE) makeLines();
    if (queued >= CHUNK_BYTES) start();
    else if (running === undefined) timer ??= setTimeout(start, LINGER_MS);
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    if (gaveUp) return;
    running ??= drain().finally(() => {
      running = undefined;
      if (queued + unmade.length > 0 && !closing.signal.aborted && !gaveUp) timer ??= setTimeout(start, LINGER_MS);
    });
  }

  async function drain(): Promise<void> {
    makeLines();
    let more: boolean;
    do {
      if (!(await persist(writeFirst))) return;
      const first = chunks[0] ?? chunk;
      // A line may have come since the last byte was written.
      const done = first.written === first.used;
      if (done && first === chunk) first.used = first.written = 0;
      else if (done) chunks.shift();
      if (first.full && !(await persist(() => output.rotate()))) return;
      if (chunks[0] !== first) spare = Object.assign(first, { used: 0, written: 0, full: false });
      if (queued === 0) confess();
      more = !done || first !== chunk || queued >= CHUNK_BYTES || (closing.signal.aborted && queued > 0);
    } while (more);
  }

  /** All of the first chunk, with what is added meanwhile, to the file that is there. */
  async function writeFirst(): Promise<void> {
    const { written: done } = chunks[0] ?? chunk;
    const renewed = await output.renew(done - beginOfLine(chunks[0] ?? chunk));
    if (renewed !== undefined) goOn(renewed);
    const from = chunks[0] ?? chunk;
    while (from.written < from.used) {
      const bytes = await output.write(from.buffer.subarray(from.written, from.used));
      from.written += bytes;
      queued -= bytes;
    }
    if (from === chunk) written = link;
  }

  /** The beginning of the line that has not been written to its end. */
  const beginOfLine = ({ buffer, written: end }: Chunk): number =>
    end === 0 ? 0 : buffer.lastIndexOf(0x0a, end - 1) + 1;

  /** Puts a line in front of those that wait, which says that something else was done to the file. */
  function goOn({ why, cut }: Renewed): void {
    log[why === 'renamed' ? 'warn' : 'error'](`audit: ${HAPPENED[why]}`);
    const waiting = chunks
      .map((each) => each.buffer.toString('latin1', beginOfLine(each), each.used))
      .join('')
      .split('\n')
      .slice(0, -1)
      .map(unchain);
    link = waiting[0]?.before ?? link;
    queued = 0;
    planned = output.size();
    chunk = emptyChunk(0);
    chunks.splice(0, chunks.length, chunk);
    const [oldest = 1] = beginnings;
    const there = output.beginnings();
    // A file that somebody took away is missed until the server would have deleted it.
    beginnings = (there[0] ?? Number.POSITIVE_INFINITY) > oldest ? [oldest, ...there.slice(1)] : there;
    const facts = { why, ...(cut > 0 && { cut }) };
    push(planned === 0 ? firstOfFile('reopened', facts) : event('reopened', { first: oldest, ...facts }));
    for (const { members } of waiting) if (!ROTATED.test(members)) push(members);
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

  // A file was put away, and the process ended before it began the next.
  if (output.size() === 0) {
    if (link.seq > 0) push(firstOfFile('rotated'));
    else beginnings = [1];
  }
  push(event('start', { pid: process.pid, ...(output.cut > 0 && { cut: output.cut }) }));
  start();

  return {
    add,
    head: () => written,
    async close() {
      if (closing.signal.aborted) return;
      makeLines();
      confess();
      push(event('end'));
      closing.abort();
      if ((await inTime(end(), CLOSE_MS)) === LATE) gaveUp = true;
      if (gaveUp) log.error('audit: the last lines could not be written');
    },
  };
}
