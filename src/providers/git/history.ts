/** Lists the commits of a history, newest first, page by page; for a path, only commits that changed it. */
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Page, ResourcePage } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Address, isHash, type Revision } from './address.ts';
import { recordsOf, runGit } from './command.ts';
import { type Found, findAddress } from './describe.ts';
import { hiddenOf, type Repository } from './find.ts';
import { toText } from './names.ts';

/**
 * A position in a history: the commit where it began, since a branch moves on, the number of commits shown, and the
 * last one shown. The history of a commit never changes, so counting is exact; the last commit proves it.
 */
interface Position {
  readonly start: string;
  readonly count: number;
  readonly last: string;
}

export async function listHistory(
  repo: Repository,
  newest: string | undefined,
  path: readonly string[],
  page: Page,
  ctx: Context,
  addressOf: (revision: Revision) => Address,
): Promise<ResourcePage> {
  const position = page.cursor === undefined ? undefined : parsePosition(page.cursor);
  const start = position?.start ?? newest;
  if (start === undefined) return { resources: [] };
  // The cursor's commit may have been removed from the repository since.
  if (position !== undefined && (await repo.objects.info(start, ctx.signal))?.type !== 'commit') throw foreign();
  const oids = await oidsOf(repo, start, path, position, page.limit, ctx);
  if (position !== undefined && oids.shift() !== position.last) throw foreign();
  const shown = oids.slice(0, page.limit);
  const visible = await visibleOf(repo, start, shown, position !== undefined, ctx);
  const found = await Promise.all(
    visible.map((oid) => findAddress(repo, addressOf({ kind: 'commit', oid }), '', ctx.signal)),
  );
  const last = shown.at(-1);
  const count = (position?.count ?? 0) + shown.length;
  return {
    resources: found.map(resourceOf),
    nextCursor: oids.length > page.limit && last !== undefined ? `${start}:${count}:${last}` : undefined,
  };
}

/**
 * Leaves out the commits that no visible reference has in its history any more.
 * @param later whether this is not the first page, so that the references may have moved since
 */
async function visibleOf(
  repo: Repository,
  start: string,
  oids: readonly string[],
  later: boolean,
  { signal }: Context,
): Promise<readonly string[]> {
  if (later && (await hiddenOf(repo, [start], signal)).size > 0) {
    const hidden = await hiddenOf(repo, oids, signal);
    return oids.filter((oid) => !hidden.has(oid));
  }
  // The whole history of a visible commit is visible.
  for (const oid of [start, ...oids]) repo.reachable.set(oid, true);
  return oids;
}

const resourceOf = ({ resource }: Found): Resource => resource;

const foreign = () => invalid('The cursor is not one of this list');

/** Returns the commit where the history of a cursor began; undefined for a cursor of no history. */
export const startOf = (cursor: string): string | undefined => positionIn(cursor)?.start;

function parsePosition(cursor: string): Position {
  const position = positionIn(cursor);
  if (position === undefined) throw foreign();
  return position;
}

function positionIn(cursor: string): Position | undefined {
  const [start = '', count = '', last = '', ...more] = cursor.split(':');
  if (!isHash(start) || !isHash(last) || !/^[1-9]\d{0,9}$/.test(count) || more.length > 0) return undefined;
  return { start, count: Number(count), last };
}

/** Returns ids for one page, plus the last one shown before it, if any, and one after it. */
async function oidsOf(
  { git }: Repository,
  start: string,
  path: readonly string[],
  position: Position | undefined,
  limit: number,
  ctx: Context,
): Promise<string[]> {
  const args = [
    'rev-list',
    `--skip=${(position?.count ?? 1) - 1}`,
    `--max-count=${limit + (position === undefined ? 1 : 2)}`,
    '--end-of-options',
    start,
    '--',
    ...pathspec(path),
  ];
  const oids: string[] = [];
  for await (const oid of recordsOf(runGit(git, args, { signal: ctx.signal }))) if (isHash(oid)) oids.push(oid);
  return oids;
}

/**
 * Returns a path as a literal argument after `--`.
 * @throws ResourceError `invalid` for one that is not UTF-8, which Node.js cannot pass as an argument
 */
export function pathspec(path: readonly string[]): string[] {
  if (path.length === 0) return [];
  const text = toText(path.join('/'));
  if (text === undefined) throw invalid('git cannot be asked about a name that is not UTF-8; its content can be read');
  return [text];
}
