/** Makes the provider of a repository: the parts that all callers share, and the queue of callers. */
import { type Context, createContext, type Log, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { type Caller, createFairQueue, MAX_WAIT_MS, SERVER } from '../../core/waiting/fair-queue.ts';
import { SCHEME } from './address.ts';
import type { Git } from './command.ts';
import { createCommits } from './commits.ts';
import type { GitConfig } from './config.ts';
import { aboveRevisions, find } from './describe.ts';
import { createReachable, type Repository } from './find.ts';
import { list } from './list.ts';
import { createObjects } from './objects.ts';
import { read } from './read.ts';
import { createPacked, createRefs } from './refs.ts';
import { search } from './search.ts';
import type { Format } from './stand-in.ts';
import { complete, listTemplates } from './templates.ts';
import { createTrees } from './trees.ts';
import { createWatching } from './watch.ts';

/** The most commands that wait for their turn. */
const MAX_WAITING = 1_000;

/** The place of a repository, and the rules for reading it. */
export interface Opening extends Pick<Repository, 'name' | 'place' | 'watched' | 'base' | 'commitsOnly' | 'refresh'> {
  readonly rules: Omit<GitConfig, 'git'>;
  readonly program: string;
  readonly version: Git['version'];
  readonly format: Format;
  /** The folder in which git runs. */
  readonly directory: string;
  readonly close: () => Promise<void>;
}

export function openRepository(opening: Opening): ResourceProvider {
  const { rules, program, version, place, format, directory, refresh } = opening;
  const queue = createFairQueue({
    places: rules.maxProcesses,
    // A search holds its command open while it reads the results.
    keepsFrom: 3,
    maxWaiting: MAX_WAITING,
    maxWaitMs: Math.max(MAX_WAIT_MS, rules.timeoutSeconds * 1_000),
    busy: 'Too many requests to this repository at a time; try again later',
    limit: 'maxProcesses',
  });
  const gitOf = (caller: Caller): Git => ({
    program,
    directory,
    version,
    timeoutMs: rules.timeoutSeconds * 1_000,
    slots: { take: (signal) => queue.take(caller, signal) },
  });
  const git = gitOf(SERVER);
  const packed = createPacked();
  const objects = createObjects(git);
  const repo: Repository = {
    name: opening.name,
    base: opening.base,
    commitsOnly: opening.commitsOnly,
    place,
    watched: opening.watched,
    refresh,
    git,
    objects,
    refs: createRefs(git, place, format.reftable, packed),
    trees: createTrees(objects, rules.maxTreeBytes),
    commits: createCommits(objects),
    reachable: createReachable(),
    shows: { branches: rules.branches, tags: rules.tags, commits: rules.commits },
    watchable: rules.watch,
    maxOutputBytes: rules.maxOutputBytes,
  };
  /** Returns the repository for one caller. All callers share its caches; its commands wait for the turn of this caller. */
  const repoOf = async ({ principal, signal }: Context): Promise<Repository> => {
    signal.throwIfAborted();
    await refresh();
    const own = gitOf(principal.id);
    return { ...repo, git: own, refs: createRefs(own, place, format.reftable, packed) };
  };
  let log: Log = SILENT;
  const watching = createWatching(repo, rules.pollSeconds, () => log);

  const provider: ResourceProvider = {
    name: repo.name,
    features: {
      schemes: [SCHEME],
      watch: rules.watch,
      templates: true,
      completion: true,
      search: true,
      ranges: true,
      gathers: true,
    },
    async list(uri, page, ctx) {
      ctx.signal.throwIfAborted();
      return uri === undefined
        ? { resources: [aboveRevisions(repo, { kind: 'root' })] }
        : list(await repoOf(ctx), uri, page, ctx);
    },
    metadata: async (uri, ctx = createContext()) => (await find(await repoOf(ctx), uri, ctx.signal)).resource,
    read: async (uri, want, ctx) => read(await repoOf(ctx), uri, want, ctx),
    listTemplates: async (page) => listTemplates(repo, page),
    complete: async (request, ctx) => complete(await repoOf(ctx), request, ctx),
    async *search(query, ctx) {
      yield* search(await repoOf(ctx), provider, query, ctx);
    },
    ...(rules.watch && {
      watch: async (uri, onChange, ctx = createContext()) => {
        log = ctx.log;
        return watching.add(uri, onChange, ctx);
      },
    }),
    async close() {
      queue.close(new ResourceError('unavailable', 'The repository is closed'));
      await watching.close();
      objects.close();
      repo.trees.clear();
      repo.commits.clear();
      await opening.close();
    },
  };
  return provider;
}
