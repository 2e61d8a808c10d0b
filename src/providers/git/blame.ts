/** Shows who wrote each line of a file: as text with the lines' bytes, or as JSON without them. */
import type { Context } from '../../core/context.ts';
import { linkTo } from './address.ts';
import { collectGit } from './command.ts';
import { isoDate } from './commits.ts';
import type { Repository } from './find.ts';
import { pathspec } from './history.ts';
import { toShown } from './names.ts';

interface Line {
  readonly oid: string;
  /** Counted from 1. */
  readonly number: number;
  /** One character per byte. */
  readonly text: string;
}

interface Origin {
  author: string;
  date: string | undefined;
  summary: string;
}

interface Blame {
  readonly lines: readonly Line[];
  readonly origins: ReadonlyMap<string, Origin>;
}

export async function blameOf(
  { git, maxOutputBytes }: Repository,
  commit: string,
  path: readonly string[],
  ctx: Context,
): Promise<Blame> {
  const args = ['blame', '--porcelain', '--no-textconv', commit, '--', ...pathspec(path)];
  return parseBlame((await collectGit(git, args, { signal: ctx.signal, maxBytes: maxOutputBytes })).toString('latin1'));
}

const HEADER = /^([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$/;

export function parseBlame(porcelain: string): Blame {
  const lines: Line[] = [];
  const origins = new Map<string, Origin>();
  let oid = '';
  let number = 0;
  let inContent = true;
  for (const record of porcelain.split('\n')) {
    if (!inContent && record.startsWith('\t')) {
      lines.push({ oid, number, text: record.slice(1) });
      inContent = true;
      continue;
    }
    const header = inContent ? HEADER.exec(record) : null;
    if (header !== null) {
      [, oid = ''] = header;
      number = Number(header[2]);
      inContent = false;
      if (!origins.has(oid)) origins.set(oid, { author: '', date: undefined, summary: '' });
      continue;
    }
    const origin = origins.get(oid);
    if (origin === undefined) continue;
    if (record.startsWith('author ')) origin.author = toShown(record.slice(7));
    if (record.startsWith('author-time ')) origin.date = isoDate(Number(record.slice(12)));
    if (record.startsWith('summary ')) origin.summary = toShown(record.slice(8));
  }
  return { lines, origins };
}

/** The width of an author's name, in columns. */
const AUTHOR_WIDTH = 20;

/** Writes each line as `hash author date number) line`. */
export function blameText({ lines, origins }: Blame): Buffer {
  const width = String(lines.at(-1)?.number ?? 1).length;
  const written = lines.map(({ oid, number, text }) => {
    const { author = '', date } = origins.get(oid) ?? {};
    // The cut may leave half of a character.
    const shown = author
      .slice(0, AUTHOR_WIDTH)
      .replace(/\p{Surrogate}$/u, '')
      .padEnd(AUTHOR_WIDTH);
    const day = (date ?? '').slice(0, 10).padEnd(10);
    const before = `${oid.slice(0, 10)} ${shown} ${day} ${String(number).padStart(width)}) `;
    return Buffer.concat([Buffer.from(before), Buffer.from(`${text}\n`, 'latin1')]);
  });
  return Buffer.concat(written);
}

/** Writes runs of adjacent lines of one commit as JSON. */
export function blameJson(repo: Repository, { lines, origins }: Blame): string {
  const runs: { start: number; count: number; commit: string }[] = [];
  for (const { oid, number } of lines) {
    const last = runs.at(-1);
    if (last?.commit === oid && last.start + last.count === number) last.count++;
    else runs.push({ start: number, count: 1, commit: oid });
  }
  const commits = Object.fromEntries(
    [...origins].map(([oid, origin]) => [
      oid,
      { ...origin, link: linkTo(repo, { kind: 'commit', revision: { kind: 'commit', oid } }) },
    ]),
  );
  return `${JSON.stringify({ lines: runs, commits }, undefined, 2)}\n`;
}
