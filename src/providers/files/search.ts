/**
 * Searches a folder with ripgrep, which only finds places. The text at a place is read through the provider, like any other
 * read, so a link that is swapped in during the search shows nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { firstMatches, MAX_MATCHES_PER_RESOURCE } from '../../core/first-matches.ts';
import { globFilter } from '../../core/glob/filter.ts';
import type { SearchMatch, SearchQuery } from '../../core/provider.ts';
import { ONE_LINE } from '../../core/search.ts';
import { treeUri } from '../../core/uri.ts';
import { isAbsent, systemCode } from './fault.ts';
import { type Folder, find, findSegments, SCHEME } from './folder.ts';

/** The most characters of ripgrep's error output that are kept. */
const MAX_ERROR_LENGTH = 8_192;

/** Options of each search. ripgrep takes the bytes as they are: offsets in a decoded text would not be offsets in the file. */
const QUIET = ['--no-config', '--no-messages', '--color=never', '--null', '--no-ignore', '--encoding=none', '--crlf'];

/** Options that make ripgrep print the place of each match, and nothing of the text. */
const PLACES = ['--no-heading', '--with-filename', '--line-number', '--byte-offset', '--only-matching', '--replace='];

export interface SearchRules {
  readonly hidden: boolean;
  /** The name of the file, if the mount serves a single file. */
  readonly only: string | undefined;
}

export const searchFolder = (
  folder: Folder,
  rules: SearchRules,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> => firstMatches(matchesIn(folder, rules, query, ctx));

/** Yields the matches that are shown; of each file, at most one more than are given. */
async function* matchesIn(
  folder: Folder,
  rules: SearchRules,
  query: SearchQuery,
  ctx: Context,
): AsyncIterable<SearchMatch> {
  const start = await startOf(folder, rules, query.uri);
  const included = globFilter(query.glob);
  const prefix = start.length === 0 || rules.only !== undefined ? '' : `${start.join('/')}/`;
  let last: string | undefined;
  let checked: { readonly path: string; readonly isShown: boolean } | undefined;
  for await (const row of runRipgrep(folder.root, argumentsOf(rules, query, start), ctx)) {
    const path = row.path.startsWith('./') ? row.path.slice(2) : row.path;
    // One place per line is enough, since whole lines are shown.
    const line = `${path}\n${row.place?.line ?? ''}`;
    if (line === last) continue;
    last = line;
    // If the search starts at a file, the glob is applied to the name of the file.
    const below = path.startsWith(prefix) ? path.slice(prefix.length) : (start.at(-1) ?? path);
    if (!included(below)) continue;
    const segments = path.split('/');
    // Checked once for consecutive places in one file. A read of the place checks again.
    if (checked?.path !== path) checked = { path, isShown: await isShownDirectly(folder, segments) };
    if (checked.isShown) yield { uri: treeUri(SCHEME, segments), place: row.place };
  }
}

/** Whether a found file is shown, and its path leads through no link: ripgrep opens paths, in which links can be swapped in. */
async function isShownDirectly(folder: Folder, segments: readonly string[]): Promise<boolean> {
  try {
    await using found = await findSegments(folder, segments, 'metadata', treeUri(SCHEME, segments));
    return found.opened.segments.join('/') === segments.join('/');
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Returns the names from the root to the start of the search. If a link leads there, the names are those of its target. */
async function startOf(folder: Folder, rules: SearchRules, uri: string | undefined): Promise<readonly string[]> {
  if (uri === undefined) return rules.only === undefined ? [] : [rules.only];
  await using found = await find(folder, uri, 'metadata');
  if (found.segments.length === 0 && rules.only !== undefined) return [rules.only];
  return found.opened.segments;
}

/**
 * Matches the globs that ripgrep gets, so that it searches fewer files. Other globs, such as `!a`, or `?` for `é`, mean
 * something else to ripgrep, which might leave out too much. All globs are applied to the results by `globFilter` anyway.
 */
const PLAIN_PART = String.raw`(?:[\w.-]|\[[A-Za-z]+\])+`;
const PLAIN_NAME = String.raw`(?:\*\*|(?!\.{1,2}(?:\/|$))(?:[\w .-]|\[[A-Za-z]+\]|(?<!\*)\*(?!\*)|\{${PLAIN_PART}(?:,${PLAIN_PART})+\})+)`;
const PLAIN_GLOB = new RegExp(String.raw`^\/*(?:${PLAIN_NAME}\/)*${PLAIN_NAME}$`);

function argumentsOf(
  rules: SearchRules,
  { pattern, literal, glob }: SearchQuery,
  start: readonly string[],
): readonly string[] {
  return [
    ...QUIET,
    ...(rules.hidden ? ['--hidden'] : []),
    ...narrowed(glob),
    ...(pattern === undefined ? ['--files'] : [...PLACES, `--max-count=${MAX_MATCHES_PER_RESOURCE + 1}`]),
    ...(literal ? ['--fixed-strings'] : []),
    ...(pattern === undefined ? [] : [`--regexp=${pattern}`]),
    '--',
    `./${start.join('/')}`,
  ];
}

/** Returns the arguments that make ripgrep search fewer files. `a/**` matches `a` as well here, but not in ripgrep. */
function narrowed(glob: string | undefined): readonly string[] {
  if (glob === undefined || !PLAIN_GLOB.test(glob)) return [];
  const anywhere = glob.includes('/') ? `**/${glob.replace(/^\/+/, '')}` : glob;
  return anywhere.endsWith('/**') ? [`--glob=${anywhere}`, `--glob=${anywhere.slice(0, -3)}`] : [`--glob=${anywhere}`];
}

interface Row {
  readonly path: string;
  readonly place: SearchMatch['place'];
}

/** Yields rows as ripgrep finds them. ripgrep pauses while nobody reads, and is ended when the caller leaves the loop. */
async function* runRipgrep(cwd: string, args: readonly string[], ctx: Context): AsyncIterable<Row> {
  const { rgPath } = await import('@vscode/ripgrep');
  ctx.signal.throwIfAborted();
  const child = start(rgPath, args, cwd);
  let failure: unknown;
  const ended = once(child, 'close').catch((error: unknown) => {
    failure = error;
    return [null];
  });
  const kill = (): void => void child.kill('SIGKILL');
  ctx.signal.addEventListener('abort', kill, { once: true });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < MAX_ERROR_LENGTH) complaint += chunk.toString('utf8');
  });
  try {
    const names = args.includes('--files');
    yield* names ? nameRows(child) : placeRows(child);
    const [status] = (await ended) as [number | null];
    ctx.signal.throwIfAborted();
    if (child.pid === undefined) throw failure;
    if (status === null)
      throw new ResourceError('unavailable', 'The search was ended before it had found all; try again');
    if (status === 2 && complaint !== '') throw refusal(complaint);
  } catch (error) {
    if (child.pid !== undefined || ctx.signal.aborted) throw error;
    await ended;
    throw notStarted(failure ?? error);
  } finally {
    ctx.signal.removeEventListener('abort', kill);
    kill();
    await ended;
  }
}

/** Some refusals of the system are thrown here; others come as the event `error`. */
function start(program: string, args: readonly string[], cwd: string): ChildProcess {
  try {
    return spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: {}, windowsHide: true });
  } catch (error) {
    throw notStarted(error);
  }
}

const notStarted = (cause: unknown): ResourceError =>
  EXHAUSTED.has(systemCode(cause) ?? '')
    ? new ResourceError('unavailable', 'The server has too many open files or programs to search now; try again', {
        cause,
      })
    : new ResourceError('unavailable', 'Searching is not possible on this machine', { cause });

/** The errors of a system that cannot start one more program at the moment. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/** Makes the error for a refused pattern, with the reason that ripgrep gives. Any other complaint goes only to the log. */
function refusal(complaint: string): ResourceError {
  if (complaint.includes('is not allowed in a regex')) return invalid(ONE_LINE);
  if (complaint.includes('regex exceeds size limit'))
    return invalid('The pattern is too large when its repetitions are written out; use smaller ones');
  const about = /regex parse error[\s\S]*/.exec(complaint)?.[0];
  if (about === undefined) return new ResourceError('internal', 'The search failed', { cause: new Error(complaint) });
  const reason = /error: (.+)/.exec(about)?.[1] ?? 'it cannot be parsed';
  return invalid(`The pattern is not a valid regular expression: ${reason}; set literal to search for it as it stands`);
}

/** The notice that ripgrep prints between rows when it finds that a file is binary after its first matches. */
const NOTICE = /^\.\/[^\n]*: (?:WARNING: stopped searching binary file after match|binary file matches) \([^\n]*\)\n/;

const PLACE = /^(\d+):(\d+):\r?\n/;

/** Parses rows: a path, NUL, `line:offset:`, and a line end. A path can contain a line end, too, so the output is split at NUL. */
async function* placeRows(child: ChildProcess): AsyncIterable<Row> {
  let path: string | undefined;
  for await (const part of split(child, 0)) {
    const place = PLACE.exec(part);
    if (path !== undefined && place !== null)
      yield { path, place: { line: Number(place[1]), offset: Number(place[2]) } };
    path = part.slice(place?.[0].length ?? 0);
    for (let notice = NOTICE.exec(path); notice !== null; notice = NOTICE.exec(path))
      path = path.slice(notice[0].length);
  }
}

async function* nameRows(child: ChildProcess): AsyncIterable<Row> {
  for await (const path of split(child, 0)) yield { path, place: undefined };
}

async function* split(child: ChildProcess, separator: number): AsyncIterable<string> {
  let rest = Buffer.alloc(0);
  for await (const chunk of (child.stdout ?? []) as AsyncIterable<Buffer>) {
    let buffer = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = buffer.indexOf(separator); end !== -1; end = buffer.indexOf(separator)) {
      yield buffer.toString('utf8', 0, end);
      buffer = buffer.subarray(end + 1);
    }
    rest = Buffer.from(buffer);
  }
  if (rest.byteLength > 0) yield rest.toString('utf8');
}
