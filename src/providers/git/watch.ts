/** Reports changes of watched resources (RES-4): when references move, compares each resource with its earlier state. */
import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Context, Log } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ChangeEvent } from '../../core/provider.ts';
import { type Address, parseUri, uriOf } from './address.ts';
import { type Found, findAddress } from './describe.ts';
import { type Repository, shownPrefixes } from './find.ts';
import { type RefEvents, watchRefs } from './ref-events.ts';

type OnChange = (event: ChangeEvent) => void;

interface Watcher {
  /** Undefined for the default list. */
  readonly address: Address | undefined;
  readonly uri: string;
  readonly onChange: OnChange;
  /** The state of the resource at the latest look; undefined before the first one. */
  state: string | undefined;
  /** Whether a look skipped this watcher because it had no state yet. Another look follows as soon as it has one. */
  missed: boolean;
}

export interface Watching {
  add(uri: string | undefined, onChange: OnChange, ctx: Context): Promise<AsyncDisposable>;
  close(): Promise<void>;
}

export function createWatching(repo: Repository, pollSeconds: number, log: () => Log): Watching {
  const watchers = new Set<Watcher>();
  let events: Promise<RefEvents> | undefined;
  let looking: Promise<void> = Promise.resolve();
  let waiting = false;
  let stopping = stop();

  /** Looks for changes, one look after the other. While one look waits for its turn, no other one is added. */
  function look(): void {
    if (waiting) return;
    waiting = true;
    looking = looking.then(async () => {
      waiting = false;
      const { signal } = stopping;
      try {
        await compareAll(signal);
      } catch (error) {
        if (!signal.aborted) log().warn('a change of the repository may go unnoticed', { error });
      }
    });
  }

  async function compareAll(signal: AbortSignal): Promise<void> {
    const opened = await events;
    if (opened === undefined) return;
    // The watches are placed before the look, so that a change in between is not missed.
    await opened.follow();
    await repo.refresh();
    const names = await stateOfRefs(repo, signal);
    for (const watcher of [...watchers]) {
      if (watcher.state === undefined) {
        watcher.missed = true;
        continue;
      }
      const state = await stateOrSame(watcher, names, signal);
      if (state === watcher.state || !watchers.has(watcher)) continue;
      watcher.state = state;
      watcher.onChange(
        watcher.address === undefined ? { kind: 'list-changed' } : { kind: 'updated', uri: watcher.uri },
      );
    }
  }

  /** Returns the old state if the resource cannot be read now, so that the other watchers still get their changes. */
  async function stateOrSame(watcher: Watcher, names: RefState, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await stateOf(repo, watcher.address, names, signal);
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      log().debug('cannot be looked at for changes', { uri: watcher.uri, error });
      return watcher.state;
    }
  }

  async function remove(watcher: Watcher): Promise<void> {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    const ending = events;
    events = undefined;
    stopping.abort();
    stopping = stop();
    (await ending?.catch(() => undefined))?.close();
    await looking;
  }

  return {
    async add(uri, onChange, ctx) {
      const address = uri === undefined ? undefined : parseUri(uri).address;
      if (address !== undefined) await assertWatchable(repo, address, uri ?? '', ctx.signal);
      const watcher: Watcher = { address, uri: uri ?? '', onChange, state: undefined, missed: false };
      const controller = stopping;
      watchers.add(watcher);
      try {
        events ??= watchRefs(repo.watched, pollSeconds, look, log);
        await events;
        await repo.refresh();
        watcher.state = await stateOf(repo, address, await stateOfRefs(repo, ctx.signal), ctx.signal);
        if (watcher.missed) look();
      } catch (error) {
        await remove(watcher);
        throw controller.signal.aborted ? new ResourceError('unavailable', 'The repository is closed') : error;
      }
      return { [Symbol.asyncDispose]: () => remove(watcher) };
    },
    async close() {
      await Promise.all([...watchers].map(remove));
    },
  };
}

/** Makes the controller that ends all running commands. Many commands listen to its signal at a time. */
function stop(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Refuses an address at a hash, which never changes; accepts one that does not exist yet. @throws ResourceError */
async function assertWatchable(repo: Repository, address: Address, uri: string, signal: AbortSignal): Promise<void> {
  const found = await findOrUndefined(repo, address, signal);
  const fixed =
    ('revision' in address && address.revision.kind === 'commit' && address.kind !== 'compare') ||
    (address.kind === 'compare' && address.base.kind === 'commit' && address.revision.kind === 'commit');
  if (fixed || found?.resource.capabilities?.subscribe === false)
    throw invalid('What a commit holds never changes, so there is nothing to subscribe to', uri);
}

async function findOrUndefined(repo: Repository, address: Address, signal: AbortSignal): Promise<Found | undefined> {
  try {
    return await findAddress(repo, address, uriOf(address), signal);
  } catch (error) {
    if (error instanceof ResourceError && error.code === 'not-found') return undefined;
    throw error;
  }
}

interface RefState {
  readonly all: string;
  readonly branches: string;
  readonly tags: string;
  readonly head: string;
}

/** The most references that count for the state. */
const MAX_REFS = 200_000;

async function stateOfRefs(repo: Repository, signal: AbortSignal): Promise<RefState> {
  const all = createHash('sha256');
  const names = { 'refs/heads/': createHash('sha256'), 'refs/tags/': createHash('sha256') };
  let seen = 0;
  for await (const { name, oid } of repo.refs.below(shownPrefixes(repo.shows), signal)) {
    if (++seen > MAX_REFS) break;
    all.update(`${oid} ${name}\n`);
    names[name.startsWith('refs/heads/') ? 'refs/heads/' : 'refs/tags/'].update(`${name}\n`);
  }
  const head = (await repo.refs.head(signal)) ?? '';
  return {
    all: all.update(`${head} HEAD\n`).digest('hex'),
    branches: names['refs/heads/'].digest('hex'),
    tags: names['refs/tags/'].digest('hex'),
    head,
  };
}

/** Returns a text for the state of a resource. Two texts are equal if the resource has not changed. */
async function stateOf(
  repo: Repository,
  address: Address | undefined,
  refs: RefState,
  signal: AbortSignal,
): Promise<string> {
  if (address === undefined) return refs.all;
  switch (address.kind) {
    case 'root':
      return refs.head === '' ? 'empty' : 'full';
    case 'branches':
    case 'tags':
      return refs[address.kind];
    case 'commits':
      return refs.head;
    case 'commit':
    case 'tree':
    case 'log':
    case 'blame':
    case 'diff':
    case 'compare': {
      const found = await findOrUndefined(repo, address, signal);
      if (found === undefined) return 'missing';
      const { target, entry, base } = found;
      // The state of a tree is the entry at its path. The state of each other kind is its commits.
      if (address.kind === 'tree') return `${entry?.mode} ${entry?.oid}`;
      return `${base?.commit?.oid} ${target?.commit?.oid}`;
    }
  }
}
