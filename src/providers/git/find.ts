/** Resolves revisions to commits and trees, and paths to entries. */
import { LRUCache } from 'lru-cache';
import { notFound } from '../../core/errors.ts';
import { isHash, type Revision } from './address.ts';
import { type Git, gitFailed, recordsOf, runGit } from './command.ts';
import type { Commit, Commits } from './commits.ts';
import type { Objects } from './objects.ts';
import type { Refs } from './refs.ts';
import type { Place } from './repository.ts';
import type { TreeEntry, Trees } from './trees.ts';

/** An open repository. */
export interface Repository {
  readonly name: string;
  /** The path of the repository's root in the URIs of clients, for links; empty if the root is `git:///`. */
  readonly base: string;
  /** Hides tags of trees and files, whose paths in the outer folder are unknown. */
  readonly commitsOnly: boolean;
  /** The folders that references are read from. */
  readonly place: Place;
  /** The folders that are watched for changes of references. */
  readonly watched: Place;
  /** Copies changes from the repository, if git reads a copy of it. */
  readonly refresh: () => Promise<void>;
  readonly git: Git;
  readonly objects: Objects;
  readonly refs: Refs;
  readonly trees: Trees;
  readonly commits: Commits;
  /** Commits that are known to belong to the history of visible references. */
  readonly reachable: LRUCache<string, true>;
  readonly shows: { readonly branches: boolean; readonly tags: boolean; readonly commits: boolean };
  readonly watchable: boolean;
  readonly maxOutputBytes: number;
}

/** A tree entry without its name, since the root of a revision has none. */
export type Entry = Omit<TreeEntry, 'name'>;

/** The commit and the entry of a revision. */
export interface Target {
  /** Undefined for a tag of a tree or of a file. */
  readonly commit: Commit | undefined;
  readonly entry: Entry;
}

/** Makes the cache of the commits that may be shown. Each entry counts for 10 seconds. */
export const createReachable = (): LRUCache<string, true> => new LRUCache({ max: 10_000, ttl: 10_000 });

/** The most nested tags that are followed. */
const MAX_TAGS = 8;

const MAX_TAG_BYTES = 1_048_576;

/** Returns the commit and the tree of a revision. @throws ResourceError `not-found` if it is missing or hidden */
export async function resolveRevision(
  repo: Repository,
  revision: Revision,
  uri: string,
  signal: AbortSignal,
): Promise<Target> {
  const oid = await oidOf(repo, revision, signal);
  if (oid === undefined) throw notFound(uri);
  const target = await peel(repo, oid, uri, signal);
  if (repo.commitsOnly && target.commit === undefined) throw notFound(uri);
  return target;
}

async function oidOf(repo: Repository, revision: Revision, signal: AbortSignal): Promise<string | undefined> {
  const { refs, shows } = repo;
  switch (revision.kind) {
    case 'head':
      return refs.head(signal);
    case 'branch':
      return shows.branches ? refs.find(`refs/heads/${revision.name}`, signal) : undefined;
    case 'tag':
      return shows.tags ? refs.find(`refs/tags/${revision.name}`, signal) : undefined;
    case 'commit': {
      if (!shows.commits) return undefined;
      const { oid } = revision;
      return (await hiddenOf(repo, [oid], signal)).size === 0 ? oid : undefined;
    }
  }
}

/** The prefixes of the references that are shown. */
export const shownPrefixes = ({ branches, tags }: Repository['shows']): string[] => [
  ...(branches ? ['refs/heads'] : []),
  ...(tags ? ['refs/tags'] : []),
];

/** The most references whose history is searched for a commit. */
const MAX_TIPS = 100_000;

/**
 * Returns the ids that are not visible commits: no visible reference has them in its history. The repository may have such
 * commits, for example those of a deleted branch.
 */
export async function hiddenOf(
  repo: Repository,
  oids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { refs, shows, git, objects, reachable } = repo;
  const hidden = new Set(oids.filter((oid) => !reachable.has(oid)));
  if (hidden.size === 0) return hidden;
  const head = await refs.head(signal);
  const tips = new Set(head === undefined ? [] : [head]);
  for await (const ref of refs.below(shownPrefixes(shows), signal)) {
    if (tips.add(ref.oid).size >= MAX_TIPS) break;
  }
  if (tips.size === 0) return hidden;
  const commits = new Set<string>();
  for (const oid of hidden) if ((await objects.info(oid, signal))?.type === 'commit') commits.add(oid);
  const unreached = await unreachedOf(
    git,
    [...commits].filter((oid) => !tips.has(oid)),
    tips,
    signal,
  );
  for (const oid of commits) {
    if (unreached.has(oid)) continue;
    hidden.delete(oid);
    reachable.set(oid, true);
  }
  return hidden;
}

/** Returns those of the commits that are in the history of no tip. */
async function unreachedOf(
  git: Repository['git'],
  commits: readonly string[],
  tips: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const unreached = new Set<string>();
  if (commits.length === 0) return unreached;
  const wanted = new Set(commits);
  const input = [...commits, ...[...tips].map((tip) => `^${tip}`), ''].join('\n');
  const args = ['rev-list', '--ignore-missing', '--stdin'];
  for await (const oid of recordsOf(runGit(git, args, { signal, input }))) {
    if (wanted.has(oid) && unreached.add(oid).size === wanted.size) break;
  }
  return unreached;
}

/** Follows tags from a hash to their commit, tree or file. */
async function peel(repo: Repository, oid: string, uri: string, signal: AbortSignal): Promise<Target> {
  const { objects, commits } = repo;
  let next = oid;
  for (let tags = 0; tags <= MAX_TAGS; tags++) {
    const info = await objects.info(next, signal);
    switch (info?.type) {
      case undefined:
        throw gitFailed('an object is missing');
      case 'commit': {
        const commit = await commits.read(next, signal);
        return { commit, entry: { kind: 'tree', mode: '40000', oid: commit.tree } };
      }
      case 'tree':
        return { commit: undefined, entry: { kind: 'tree', mode: '40000', oid: next } };
      case 'blob':
        return { commit: undefined, entry: { kind: 'file', mode: '100644', oid: next } };
      case 'tag': {
        const tag = await objects.content(next, MAX_TAG_BYTES, signal);
        const target = /^object ([0-9a-f]+)\n/.exec(tag?.bytes?.toString('latin1', 0, 80) ?? '')?.[1];
        if (target === undefined || !isHash(target)) throw gitFailed('a tag is damaged');
        next = target;
      }
    }
  }
  throw notFound(uri);
}

/** Returns the entry at a path below a root. @throws ResourceError `not-found` */
export async function findPath(
  { trees }: Repository,
  root: Entry,
  path: readonly string[],
  uri: string,
  signal: AbortSignal,
): Promise<Entry> {
  let entry = root;
  for (const name of path) {
    if (entry.kind !== 'tree') throw notFound(uri);
    const found = (await trees.read(entry.oid, signal)).find(name);
    if (found === undefined) throw notFound(uri);
    entry = found;
  }
  return entry;
}
