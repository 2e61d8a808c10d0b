/** Makes the resource of each address: its description without its content. */
import { notFound, ResourceError } from '../../core/errors.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import { ETAG_META_KEY, FORMATS_META_KEY, GIT_META_KEY } from '../../protocol/meta.ts';
import { DIRECTORY_MIME_TYPE, NAMES, type Resource } from '../../protocol/resources.ts';
import { type Address, parseUri, type Revision, uriOf } from './address.ts';
import type { Commit } from './commits.ts';
import { type Entry, findPath, type Repository, resolveRevision, type Target } from './find.ts';
import { segmentOf, toShown } from './names.ts';

/** An address that exists, with its resource. */
export interface Found {
  readonly address: Address;
  /** The target of the revision; undefined for the containers above the revisions, such as `git:///branches`. */
  readonly target?: Target;
  /** The entry at the path; undefined for an address without an entry, such as a commit or a diff. */
  readonly entry?: Entry;
  /** The target that a diff starts from. */
  readonly base?: Target;
  readonly resource: Resource;
}

/** Finds the resource of a URI. @throws ResourceError `not-found`, `invalid` */
export async function find(repo: Repository, uri: string, signal: AbortSignal): Promise<Found> {
  const { address, trailingSlash } = parseUri(uri);
  const found = await findAddress(repo, address, uri, signal);
  if (trailingSlash && !found.resource.capabilities?.list) throw notFound(uri);
  return found;
}

export async function findAddress(
  repo: Repository,
  address: Address,
  uri: string,
  signal: AbortSignal,
): Promise<Found> {
  switch (address.kind) {
    case 'root':
    case 'branches':
    case 'tags':
    case 'commits':
      if (address.kind !== 'root' && !repo.shows[address.kind]) throw notFound(uri);
      return { address, resource: aboveRevisions(repo, address) };
    case 'commit': {
      if (!repo.shows.commits) throw notFound(uri);
      const target = await resolveRevision(repo, address.revision, uri, signal);
      if (target.commit === undefined) throw notFound(uri);
      return { address, target, resource: commitResource(repo, address, target.commit) };
    }
    case 'compare': {
      if (!repo.shows.commits) throw notFound(uri);
      const base = await resolveRevision(repo, address.base, uri, signal);
      const target = await resolveRevision(repo, address.revision, uri, signal);
      if (base.commit === undefined || target.commit === undefined) throw notFound(uri);
      await assertInEither(repo, base, target, address.path, uri, signal);
      return { address, base, target, resource: diffResource(repo, address, target) };
    }
    case 'diff': {
      if (!repo.shows.commits) throw notFound(uri);
      const target = await resolveRevision(repo, address.revision, uri, signal);
      if (target.commit === undefined) throw notFound(uri);
      const [parent] = target.commit.parents;
      const base = parent === undefined ? undefined : await parentOf(repo, parent, signal);
      await assertInEither(repo, base, target, address.path, uri, signal);
      return { address, target, ...(base && { base }), resource: diffResource(repo, address, target) };
    }
    case 'tree':
    case 'log':
    case 'blame': {
      if (address.kind !== 'tree' && !repo.shows.commits) throw notFound(uri);
      const target = await resolveRevision(repo, address.revision, uri, signal);
      if (address.kind !== 'tree' && target.commit === undefined) throw notFound(uri);
      const entry = await findPath(repo, target.entry, address.path, uri, signal);
      if (address.kind === 'blame' && (entry.kind === 'link' || entry.kind === 'submodule')) throw notFound(uri);
      return { address, target, entry, resource: await pathResource(repo, address, target, entry, signal) };
    }
  }
}

/** Returns the first parent; undefined if a shallow repository does not have it. */
async function parentOf(repo: Repository, oid: string, signal: AbortSignal): Promise<Target | undefined> {
  if ((await repo.objects.info(oid, signal)) === undefined) return undefined;
  const commit = await repo.commits.read(oid, signal);
  return { commit, entry: { kind: 'tree', mode: '40000', oid: commit.tree } };
}

/** Throws unless the path exists before the change or after it. @throws ResourceError `not-found` */
async function assertInEither(
  repo: Repository,
  base: Target | undefined,
  target: Target,
  path: readonly string[],
  uri: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await findPath(repo, target.entry, path, uri, signal);
  } catch (error) {
    if (base === undefined || !(error instanceof ResourceError && error.code === 'not-found')) throw error;
    await findPath(repo, base.entry, path, uri, signal);
  }
}

/** Whether the commit of a revision can change: a branch moves, a hash does not. */
const moves = ({ kind }: Revision): boolean => kind !== 'commit';

const subscribable = (repo: Repository, ...revisions: readonly Revision[]): boolean =>
  repo.watchable && revisions.some(moves);

const TITLES = { branches: 'Branches', tags: 'Tags', commits: 'Commits' } as const;

export function aboveRevisions(
  repo: Repository,
  address: Extract<Address, { kind: 'root' | 'branches' | 'tags' | 'commits' }>,
): Resource {
  return {
    uri: uriOf(address),
    name: address.kind === 'root' ? repo.name : address.kind,
    ...(address.kind !== 'root' && { title: TITLES[address.kind] }),
    mimeType: DIRECTORY_MIME_TYPE,
    capabilities: { list: true, subscribe: repo.watchable },
  };
}

const dated = (commit: Commit | undefined): Pick<Resource, 'annotations'> =>
  commit?.committer.date === undefined ? {} : { annotations: { lastModified: commit.committer.date } };

export function commitResource(
  repo: Repository,
  address: Extract<Address, { kind: 'commit' }>,
  commit: Commit,
): Resource {
  return {
    uri: uriOf(address),
    name: nameOfRevision(address.revision),
    ...(commit.subject !== '' && { title: shortened(commit.subject) }),
    description: `Commit ${commit.oid}`,
    mimeType: 'text/markdown',
    ...dated(commit),
    capabilities: { list: false, subscribe: subscribable(repo, address.revision) },
    _meta: {
      [FORMATS_META_KEY]: [{ mimeType: 'text/markdown' }, { mimeType: 'application/json' }],
      [ETAG_META_KEY]: commit.oid,
    },
  };
}

function diffResource(
  repo: Repository,
  address: Extract<Address, { kind: 'diff' | 'compare' }>,
  target: Target,
): Resource {
  const revisions = address.kind === 'compare' ? [address.base, address.revision] : [address.revision];
  return {
    uri: uriOf(address),
    name: nameOfPath(address.path) ?? nameOfRevision(address.revision),
    description:
      address.kind === 'compare'
        ? `What is different from ${nameOfRevision(address.base)} to ${nameOfRevision(address.revision)}`
        : `What ${nameOfRevision(address.revision)} changed`,
    mimeType: 'text/x-diff',
    ...dated(target.commit),
    capabilities: { list: false, subscribe: subscribable(repo, ...revisions) },
    ...shows(address.path),
  };
}

/** Adds the path in the repository to a resource, for rules that hold at every revision and in every view. */
const shows = (path: readonly string[]): Pick<Resource, typeof NAMES> =>
  path.length === 0 ? {} : { [NAMES]: { paths: [toShown(path.join('/'))] } };

/** Describes a folder or file, its history, or its blame. */
export async function pathResource(
  repo: Repository,
  address: Extract<Address, { kind: 'tree' | 'log' | 'blame' }>,
  target: Target,
  entry: Entry,
  signal: AbortSignal,
): Promise<Resource> {
  const { kind, revision, path } = address;
  const name = nameOfPath(path) ?? nameOfRevision(revision);
  const common = { uri: uriOf(address), name, ...shows(path) };
  const rest = {
    ...dated(target.commit),
    capabilities: { list: kind === 'log' || entry.kind === 'tree', subscribe: subscribable(repo, revision) },
  };
  if (kind === 'log') return { ...common, title: `History of ${name}`, mimeType: DIRECTORY_MIME_TYPE, ...rest };
  if (entry.kind === 'tree') return { ...common, mimeType: DIRECTORY_MIME_TYPE, ...rest };
  if (kind === 'blame') {
    const formats = [{ mimeType: 'text/plain' }, { mimeType: 'application/json' }];
    return {
      ...common,
      title: `Blame of ${name}`,
      mimeType: 'text/plain',
      ...rest,
      _meta: { [FORMATS_META_KEY]: formats },
    };
  }
  const { oid, mode } = entry;
  const _meta = { [ETAG_META_KEY]: oid, [GIT_META_KEY]: { hash: oid, mode } };
  if (entry.kind === 'submodule') {
    const description = 'A submodule: another repository, of which only the commit is known here';
    return { ...common, description, mimeType: 'text/plain', size: submoduleText(oid).length, ...rest, _meta };
  }
  const size = (await repo.objects.info(oid, signal))?.size;
  const sized = size === undefined ? {} : { size };
  if (entry.kind === 'link') {
    const description = 'A symbolic link, which is not followed: its content is where it leads';
    return { ...common, description, mimeType: 'text/plain', ...sized, ...rest, _meta };
  }
  const mimeType = mimeTypeOfName(name);
  return { ...common, ...(mimeType !== undefined && { mimeType }), ...sized, ...rest, _meta };
}

export const submoduleText = (oid: string): string => `Subproject commit ${oid}\n`;

function nameOfPath(path: readonly string[]): string | undefined {
  const last = path.at(-1);
  return last === undefined ? undefined : segmentOf(last);
}

export function nameOfRevision(revision: Revision): string {
  switch (revision.kind) {
    case 'head':
      return 'HEAD';
    case 'branch':
    case 'tag':
      return Buffer.from(revision.name, 'latin1').toString('utf8');
    case 'commit':
      return revision.oid;
  }
}

/** The most characters of a title. */
const MAX_TITLE = 200;

/** Half of a character that the cut leaves becomes U+FFFD, because strict JSON parsers refuse it. */
const shortened = (text: string): string =>
  text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE - 1).toWellFormed()}…`;
