/** Reads an audit file, and those that were put away before it, and says where they are not as they were written. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BEGINNING, type Link, MAX_LINE_BYTES, readLine } from './chain.ts';

export interface Finding {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

export interface VerifyReport {
  /** In the order in which they were written. */
  readonly files: readonly string[];
  readonly lines: number;
  readonly first: Link | undefined;
  readonly last: Link | undefined;
  /** Lines that the server says it could not write, in all. */
  readonly lost: number;
  readonly findings: readonly Finding[];
}

/** Findings that are kept. */
export const MAX_FINDINGS = 100;

/**
 * @param head the SHA-256 of a line that has to be there: without it, nobody can tell that the end is missing
 * @throws what the file system says of a file that cannot be read
 */
export async function verifyAudit(file: string, head?: string): Promise<VerifyReport> {
  let headSeen = head === undefined;
  const files = await filesOf(file);
  const findings: Finding[] = [];
  const report = { lines: 0, lost: 0, first: undefined as Link | undefined, last: undefined as Link | undefined };
  /** The line before; undefined where it could not be read. */
  let before: Link | undefined = BEGINNING;
  let lastLine = 0;
  for (const [index, each] of files.entries()) {
    let number = 0;
    for await (const { text, whole } of linesOf(each)) {
      lastLine = ++number;
      report.lines++;
      const say = (problem: string): void => {
        if (findings.length < MAX_FINDINGS) findings.push({ file: each, line: number, problem });
      };
      const read = whole ? readLine(text) : undefined;
      if (read === undefined) {
        say(whole ? 'not a line of an audit' : 'the line is cut short');
        before = undefined;
        continue;
      }
      if (!read.intact) say(`line ${read.link.seq} of the audit was changed`);
      // Older files go with time; each that is left begins by saying that it follows one.
      const follows: Link | undefined = index === 0 && number === 1 && read.event === 'rotated' ? undefined : before;
      if (number === 1 && read.event !== 'rotated' && read.event !== 'start')
        say('the file does not begin as an audit file does: its first lines are missing');
      const problem = follows === undefined ? undefined : problemOf(read.link.seq, read.prev, follows);
      if (problem !== undefined) say(problem);
      report.first ??= read.link;
      report.last = read.link;
      before = read.link;
      headSeen ||= read.intact && read.link.hash === head;
      if (read.event === 'lost') report.lost += countOf(text);
    }
    if (number === 0) findings.push({ file: each, line: 1, problem: 'the file is empty' });
  }
  if (!headSeen)
    findings.push({ file, line: lastLine + 1, problem: 'the line with the hash that was given is missing' });
  return { files, findings, ...report };
}

function problemOf(seq: number, prev: string, before: Link): string | undefined {
  const expected = before.seq + 1;
  if (seq > expected) return `lines ${expected} to ${seq - 1} of the audit are missing before this one`;
  if (seq < expected) return `line ${seq} of the audit stands after line ${before.seq}: moved, or there twice`;
  return prev === before.hash
    ? undefined
    : `line ${seq} of the audit does not follow the line before it: one was replaced`;
}

function countOf(line: string): number {
  try {
    const { count } = JSON.parse(line) as { readonly count?: unknown };
    return typeof count === 'number' ? count : 0;
  } catch {
    return 0;
  }
}

/** The file, and before it those that were put away, the oldest first. */
async function filesOf(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const begin = `${basename(file)}.`;
  const numbers = (await readdir(folder)).flatMap((name) => {
    const number = name.startsWith(begin) ? name.slice(begin.length) : '';
    return /^[1-9]\d{0,5}$/.test(number) ? [Number(number)] : [];
  });
  const put = numbers.sort((a, b) => b - a).map((number) => join(folder, `${begin}${number}`));
  return [...put, file];
}

interface RawLine {
  readonly text: string;
  /** It ends with a line feed, and is not longer than a line can be. */
  readonly whole: boolean;
}

async function* linesOf(file: string): AsyncIterable<RawLine> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): string => {
    const text = Buffer.concat(parts).toString('utf8');
    parts = [];
    size = 0;
    return text;
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      parts.push(chunk.subarray(from, end));
      size += end - from;
      from = end + 1;
      const tooLong = size > MAX_LINE_BYTES;
      yield { text: take(), whole: !tooLong };
    }
    size += chunk.length - from;
    // What is too long is no line of an audit: only its beginning is kept.
    if (size <= MAX_LINE_BYTES || parts.length === 0) parts.push(chunk.subarray(from));
  }
  if (size > 0) yield { text: take(), whole: false };
}
