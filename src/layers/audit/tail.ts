/** Finds the first and the last link in a file of an audit, for whoever writes on. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { invalid } from '../../core/errors.ts';
import { BEGINNING, type Link, MAX_LINE_BYTES, type ReadLine, readLine } from './chain.ts';

/** The name of a file that was put away; 1 is the latest of them, and 0 the one that is written to. */
export const older = (file: string, index: number): string => (index === 0 ? file : `${file}.${index}`);

const FLAGS = constants.O_CREAT | constants.O_RDWR | constants.O_APPEND;

export interface Opened {
  readonly fd: number;
  readonly ino: bigint;
  readonly dev: bigint;
  /** It has a size that means something: no device. */
  readonly regular: boolean;
  /** The link that the chain goes on from. */
  readonly last: Link;
  /** Bytes of an unfinished line that were taken off. */
  readonly cut: number;
  readonly size: number;
}

/**
 * Opens a file to write on, and takes an unfinished line off.
 * @throws ResourceError `invalid` when it does not end as an audit file does
 */
export function openEnd(file: string): Opened {
  const fd = openSync(file, FLAGS, 0o600);
  try {
    const stats = fstatSync(fd, { bigint: true });
    const size = Number(stats.size);
    const tail = tailOf(fd, size);
    const whole = tail.lastIndexOf(0x0a) + 1;
    const cut = tail.length - whole;
    if ((whole === 0 && size > tail.length) || !isBegun(tail.toString('latin1', whole))) throw notAnAuditFile(file);
    const last = lastLink(tail.subarray(0, whole), file) ?? linkOfOlder(file);
    if (cut > 0) ftruncateSync(fd, size - cut);
    return { fd, ino: stats.ino, dev: stats.dev, regular: stats.isFile(), last, cut, size: size - cut };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const BEGIN = '{"audit":1,"seq":';

/** Whether this is a line that was begun, or what a file system puts where a machine lost power; nothing is, too. */
const isBegun = (text: string): boolean => text.startsWith(BEGIN.slice(0, text.length)) || /^\0*$/.test(text);

/** Ends a line that somebody else left open. @returns the size with it */
export function endLine(fd: number): number {
  const { size } = fstatSync(fd);
  if (size === 0) return 0;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a ? size : size + writeSync(fd, '\n');
}

/** The numbers with which the files begin, the oldest first: those of the chain that are there, or should be. */
export function beginningsOf(file: string, maxFiles: number): readonly number[] {
  const numbers: number[] = [];
  let first: number | undefined;
  for (let index = maxFiles - 1; index >= 0; index--) {
    const line = firstLine(older(file, index));
    if (line === undefined) continue;
    numbers.push(line.link.seq);
    first = line.first ?? (line.link.seq === 1 ? 1 : first);
  }
  // A file that somebody else took away is missed until its turn to go.
  const [oldest] = numbers;
  return oldest !== undefined && first !== undefined && first < oldest ? [first, ...numbers.slice(1)] : numbers;
}

/** Bytes in which the first line of a file ends. */
const FIRST_LINE_BYTES = 4_096;

function firstLine(file: string): ReadLine | undefined {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.alloc(FIRST_LINE_BYTES);
    const text = buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0));
    const end = text.indexOf('\n');
    return end === -1 ? undefined : readLine(text.slice(0, end));
  } finally {
    closeSync(fd);
  }
}

/** The file before ends where the chain goes on when this one has no line yet, as after a kill between the two. */
function linkOfOlder(file: string): Link {
  let fd: number;
  try {
    fd = openSync(older(file, 1), constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return BEGINNING;
    throw error;
  }
  try {
    const link = lastLink(tailOf(fd, fstatSync(fd).size), older(file, 1));
    if (link === undefined) throw notAnAuditFile(older(file, 1));
    return link;
  } finally {
    closeSync(fd);
  }
}

function tailOf(fd: number, size: number): Buffer {
  const buffer = Buffer.alloc(Math.min(size, MAX_LINE_BYTES * 2));
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, size - buffer.length));
}

/** The place in the chain of the last of some whole lines. */
function lastLink(lines: Buffer, file: string): Link | undefined {
  if (lines.length === 0) return undefined;
  const from = lines.lastIndexOf(0x0a, lines.length - 2) + 1;
  const read = readLine(lines.toString('utf8', from, lines.length - 1));
  if (read === undefined || !read.intact) throw notAnAuditFile(file);
  return read.link;
}

const notAnAuditFile = (file: string): Error =>
  invalid(
    `${file} does not end with a line of an audit, or that line was changed; look at it with vitrine audit verify, and ` +
      'move it away to begin a new one',
  );
