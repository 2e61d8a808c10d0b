/** Finds the first and the last link in the files of an audit, so that its chain can be continued. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { invalid } from '../../core/errors.ts';
import { BEGINNING, type Link, MAX_LINE_BYTES, type ReadLine, readLine } from './chain.ts';

/** The name of a file of an audit: 0 is the current file, and 1 the latest one that was rotated. */
export const older = (file: string, index: number): string => (index === 0 ? file : `${file}.${index}`);

const FLAGS = constants.O_CREAT | constants.O_RDWR | constants.O_APPEND;

/** A file that was opened to continue its chain. */
export interface Opened {
  readonly fd: number;
  readonly ino: bigint;
  readonly dev: bigint;
  /** Whether it is a regular file, so that its size means something, and not a device. */
  readonly regular: boolean;
  /** The link that the next line follows. */
  readonly last: Link;
  /** Bytes of an unfinished line that were removed. */
  readonly cut: number;
  readonly size: number;
}

/**
 * Opens a file to continue its chain, and removes an unfinished line from its end.
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

/** Whether a text is empty, the beginning of a line, or only NULs, which a file system may leave after a loss of power. */
const isBegun = (text: string): boolean => text.startsWith(BEGIN.slice(0, text.length)) || /^\0*$/.test(text);

/** Ends a line that another program left without an end. @returns the size of the file after that */
export function endLine(fd: number): number {
  const { size } = fstatSync(fd);
  if (size === 0) return 0;
  const last = Buffer.alloc(1);
  readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a ? size : size + writeSync(fd, '\n');
}

/** The numbers of the lines with which the files of a chain begin, the oldest first. */
export function beginningsOf(file: string, maxFiles: number): readonly number[] {
  const numbers: number[] = [];
  let first: number | undefined;
  for (let index = maxFiles - 1; index >= 0; index--) {
    const line = firstLine(older(file, index));
    if (line === undefined) continue;
    numbers.push(line.link.seq);
    first = line.first ?? (line.link.seq === 1 ? 1 : first);
  }
  // A file that another program took away counts as missing until the server would have deleted it.
  const [oldest] = numbers;
  return oldest !== undefined && first !== undefined && first < oldest ? [first, ...numbers.slice(1)] : numbers;
}

/** The most bytes of the first line of a file. */
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

/** The last link of the file before. It is needed if the current file has no line yet, as after a kill while rotating. */
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

/** The link of the last one of some whole lines. */
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
