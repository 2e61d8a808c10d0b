/** Verifies an audit file and its rotated files, and reports where they were changed. */
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Noted } from './anchors.ts';
import { BEGINNING, type Link, readLine } from './chain.ts';
import { linesOf } from './lines.ts';

export interface Finding {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly problem: string;
}

export interface VerifyReport {
  /** The files in the order in which they were written. */
  readonly files: readonly string[];
  readonly lines: number;
  readonly first: Link | undefined;
  readonly last: Link | undefined;
  /** The total of lines that the server says it could not write. */
  readonly lost: number;
  readonly findings: readonly Finding[];
  /** Facts worth knowing that do not prove a change of the lines. */
  readonly notes: readonly Finding[];
}

export interface Expected {
  /** The SHA-256 of a line that must exist. Without it and `anchors`, a missing end cannot be detected. */
  readonly head?: string | undefined;
  /** Heads that were noted elsewhere, by line number. */
  readonly anchors?: ReadonlyMap<number, Noted> | undefined;
}

/** The most findings that are kept, and the most notes. */
export const MAX_FINDINGS = 100;

/**
 * @param given the current file, with which its rotated files are read; or all files of an audit
 * @throws errors of the file system
 */
export async function verifyAudit(given: string | readonly string[], expected: Expected = {}): Promise<VerifyReport> {
  const { head, anchors } = expected;
  const files = await filesOf(given);
  const findings: Finding[] = [];
  const notes: Finding[] = [];
  const say = (to: Finding[], file: string, line: number, problem: string): void => {
    if (to.length < MAX_FINDINGS) to.push({ file, line, problem });
  };
  const report = { lines: 0, lost: 0, first: undefined as Link | undefined, last: undefined as Link | undefined };
  /** The previous line; undefined where it could not be read. */
  let before: Link | undefined = BEGINNING;
  let headSeen = head === undefined;
  /** The number of the first line that the server says it still keeps. */
  let kept: number | undefined;
  let takenAway = false;
  let lastLine = 0;
  for (const [index, each] of files.entries()) {
    let number = 0;
    for await (const { text, whole } of linesOf(each)) {
      lastLine = ++number;
      report.lines++;
      const found = (problem: string): void => say(findings, each, number, problem);
      const read = whole ? readLine(text) : undefined;
      if (read === undefined) {
        found(whole ? 'not a line of an audit' : 'the line is cut short');
        before = undefined;
        continue;
      }
      const { link, event, why } = read;
      if (!read.intact) found(`line ${link.seq} of the audit was changed`);
      const begins = number === 1 && (event === 'rotated' || event === 'reopened');
      // Old files are deleted in time; the first remaining one begins with a line that follows a deleted one.
      const follows: Link | undefined = index === 0 && begins ? undefined : before;
      if (number === 1 && !begins && event !== 'start')
        found('the file does not begin as an audit file does: its first lines are missing');
      const problem = follows === undefined ? undefined : problemOf(link.seq, read.prev, follows);
      if (problem !== undefined) found(problem);
      if (event === 'reopened') {
        say(notes, each, number, `here the server says that its file was ${why ?? 'changed'} by somebody else`);
        takenAway ||= index === 0 && begins && why !== 'renamed';
      }
      if (read.intact && read.first !== undefined) kept = read.first;
      const noted = anchors?.get(link.seq);
      if (noted !== undefined && noted.hash !== link.hash)
        found(`line ${link.seq} of the audit is not the one that was noted elsewhere at ${noted.time}`);
      report.first ??= link;
      report.last = link;
      before = link;
      headSeen ||= read.intact && link.hash === head;
      if (event === 'lost') report.lost += countOf(text);
    }
    if (number === 0) say(findings, each, 1, 'the file is empty');
  }
  const [oldest = ''] = files;
  const newest = files.at(-1) ?? '';
  const begin = report.first?.seq ?? 1;
  const missing =
    kept === undefined || kept >= begin ? undefined : `lines ${kept} to ${begin - 1} of the audit are missing`;
  if (missing !== undefined) {
    const proved = takenAway || anchors !== undefined;
    say(proved ? findings : notes, oldest, 1, `${missing} before this one, and the server did not delete them`);
  }
  const end = report.last?.seq ?? 0;
  const latest = [...(anchors?.values() ?? [])].reduce<Noted | undefined>(
    (last, each) => (last === undefined || each.seq > last.seq ? each : last),
    undefined,
  );
  if (latest !== undefined && latest.seq > end)
    say(
      findings,
      newest,
      lastLine + 1,
      `lines ${end + 1} to ${latest.seq} of the audit are missing at the end: the last was noted elsewhere at ${latest.time}`,
    );
  if (!headSeen) say(findings, newest, lastLine + 1, 'the line with the hash that was given is missing');
  return { files, findings, notes, ...report };
}

function problemOf(seq: number, prev: string, before: Link): string | undefined {
  const expected = before.seq + 1;
  if (seq > expected) return `lines ${expected} to ${seq - 1} of the audit are missing before this one`;
  if (seq < expected) return `line ${seq} of the audit comes after line ${before.seq}: it was moved or repeated`;
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

/** Returns the files of a chain in the order in which they were written. @param given as for `verifyAudit` */
export async function filesOf(given: string | readonly string[]): Promise<readonly string[]> {
  if (typeof given === 'string') return [...(await putAway(given)), given];
  const begun = await Promise.all(given.map(async (file) => ({ file, seq: await beginningOf(file) })));
  return begun.sort((a, b) => a.seq - b.seq).map(({ file }) => file);
}

/** Returns the files that were rotated before this one, oldest first. */
async function putAway(file: string): Promise<readonly string[]> {
  const folder = dirname(file);
  const begin = `${basename(file)}.`;
  const numbers = (await readdir(folder)).flatMap((name) => {
    const number = name.startsWith(begin) ? name.slice(begin.length) : '';
    return /^[1-9]\d{0,5}$/.test(number) ? [Number(number)] : [];
  });
  return numbers.sort((a, b) => b - a).map((number) => join(folder, `${begin}${number}`));
}

/** Returns the number of the first readable line; a file without one sorts last. */
async function beginningOf(file: string): Promise<number> {
  for await (const { text, whole } of linesOf(file)) {
    const read = whole ? readLine(text) : undefined;
    if (read !== undefined) return read.link.seq;
  }
  return Number.MAX_SAFE_INTEGER;
}
