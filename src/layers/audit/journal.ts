/**
 * Writes audit lines in the background: an operation adds its record and goes on. Records that find no room in the queue are
 * counted, and a line tells their number. Lines are chained after that, so lost records leave no gap in the chain.
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

/** The most records that have no line yet. It is much faster to make many lines at a time than each one between other work. */
const MAX_UNMADE = 64;

/** Records wait this long for others to be written with them, in milliseconds. */
const LINGER_MS = 50;

/** Milliseconds between two tries to write. */
const RETRY_MS = 250;

/** How long the end of a server waits for its lines, in milliseconds. */
const CLOSE_MS = 3_000;

export interface Journal<T extends object> {
  /** Takes a record. Never waits. */
  add(record: T): void;
  /** The link of the last line that has been written. */
  head(): Link;
  /** Writes the lines that wait. If that takes too long, it gives up and logs that. */
  close(): Promise<void>;
}

/** Lines as bytes, in memory that the garbage collector need not search. */
interface Chunk {
  readonly buffer: Buffer;
  /** How many of its bytes hold lines. The next line goes behind them. */
  used: number;
  /** How many of its bytes are in the file. */
  written: number;
  /** Whether the file has no room for the line after this chunk, so that it is rotated first. */
  full: boolean;
}

/** The bytes of a line, which is all ASCII. */
const bytesOf = ({ text, seal }: ChainedLine): number => text.length + seal.length;

const emptyChunk = (bytes: number): Chunk => ({
  buffer: Buffer.allocUnsafe(Math.max(CHUNK_BYTES, bytes)),
  used: 0,
  written: 0,
  full: false,
});

/** Matches the members of a line that was meant to begin a file. It is dropped if the file begins with another line. */
const ROTATED = /^"time":"[^"]*","event":"rotated","first":\d+$/;

const HAPPENED: Readonly<Record<Interference, string>> = {
  deleted: 'the file was deleted while it was written; a new one is begun',
  renamed: 'the file was renamed while it was written; a new one is begun',
  replaced: 'the file was replaced while it was written; lines go to the one that is there',
  truncated: 'the file was cut while it was written; lines follow what is left',
  appended: 'something else writes to the file',
};

export interface JournalOptions<T extends object> {
  /** Writes a record as the members of an object in JSON, on one line of ASCII. Default: all its members. */
  readonly membersOf?: ((record: T) => string) | undefined;
  /** The most bytes of lines that may wait. Default: 8 MiB. */
  readonly maxQueued?: number | undefined;
}

export function createJournal<T extends object>(
  output: AuditOutput,
  log: Log,
  { membersOf = asciiMembers, maxQueued = MAX_QUEUED }: JournalOptions<T> = {},
): Journal<T> {
  let chunk = emptyChunk(0);
  /** The oldest first. Lines are added to the last one, which is `chunk`. */
  const chunks: Chunk[] = [chunk];
  /** A chunk that has been written and is used again: usually two take turns. */
  let spare: Chunk | undefined;
  const unmade: T[] = [];
  let queued = 0;
  /** Bytes that the file will have when all lines that wait for it are written. */
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

  /** Adds a line behind the others. If the file has no room for it, the file is rotated before it. */
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
  /** The members of a line that begins a file, with the number of the oldest line that is kept. */
  const firstOfFile = (name: string, facts: object = {}): string => {
    beginnings = [...beginnings, link.seq + 1].slice(-output.maxFiles);
    return event(name, { first: beginnings[0], ...facts });
  };
  /** Adds a line with the number of lost records, in the place of their lines. */
  const addLost = (): void => {
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
    addLost();
    push(members);
  }

  function add(record: T): void {
    // No line may follow the `end` line, and the file may belong to another process by then.
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
      if (queued === 0) addLost();
      more = !done || first !== chunk || queued >= CHUNK_BYTES || (closing.signal.aborted && queued > 0);
    } while (more);
  }

  /** Writes all of the first chunk, and what is added to it meanwhile, to the file at the path. */
  async function writeFirst(): Promise<void> {
    const { written: done } = chunks[0] ?? chunk;
    const renewed = await output.renew(done - beginOfLine(chunks[0] ?? chunk));
    if (renewed !== undefined) rechain(renewed);
    const from = chunks[0] ?? chunk;
    while (from.written < from.used) {
      const bytes = await output.write(from.buffer.subarray(from.written, from.used));
      from.written += bytes;
      queued -= bytes;
    }
    if (from === chunk) written = link;
  }

  /** The beginning of the first line in a chunk that is not written, or only in part. */
  const beginOfLine = ({ buffer, written: end }: Chunk): number =>
    end === 0 ? 0 : buffer.lastIndexOf(0x0a, end - 1) + 1;

  /** Adds a line that says what another program did to the file, and chains the lines that wait behind it. */
  function rechain({ why, cut }: Renewed): void {
    log[why === 'renamed' ? 'warn' : 'error'](`audit: ${HAPPENED[why]}`);
    const waiting = chunks
      .map((part) => part.buffer.toString('latin1', beginOfLine(part), part.used))
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
    const present = output.beginnings();
    // A file that another program took away counts as missing until the server would have deleted it.
    beginnings = (present[0] ?? Number.POSITIVE_INFINITY) > oldest ? [oldest, ...present.slice(1)] : present;
    const facts = { why, ...(cut > 0 && { cut }) };
    push(planned === 0 ? firstOfFile('reopened', facts) : event('reopened', { first: oldest, ...facts }));
    for (const { members } of waiting) if (!ROTATED.test(members)) push(members);
  }

  /** Tries until it works, since a full disk may have room again. Returns false if the server ends before that. */
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

  // If there are older lines, the last process rotated the file, and ended before it wrote a line to the new one.
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
      addLost();
      push(event('end'));
      closing.abort();
      if ((await inTime(end(), CLOSE_MS)) === LATE) gaveUp = true;
      if (gaveUp) log.error('audit: the last lines could not be written');
    },
  };
}
