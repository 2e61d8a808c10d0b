/**
 * A git repository as resources: `git:///HEAD/src/x.ts` is a file as it is now, `git:///branches/main`, `git:///tags/v1`
 * and `git:///commits/<hash>` are the same of other revisions, `git:///log/...`, `git:///diff/...` and
 * `git:///blame/...` tell how it came about. Nothing that the repository says is executed, and nothing outside is read.
 *
 * @example
 * const history = await gitProvider({ path: './project.git' });
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Context, createContext, type Log, SILENT } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { type Caller, createFairQueue, MAX_WAIT_MS, SERVER } from '../../core/fair-queue.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { SCHEME } from './address.ts';
import { type Git, isAtLeast, OLDEST_GIT } from './command.ts';
import { createCommits } from './commits.ts';
import { type GitConfig, type GitOptions, gitConfig } from './config.ts';
import { aboveRevisions, find } from './describe.ts';
import { createReachable, type Repository } from './find.ts';
import { list } from './list.ts';
import { configurationOf, makeMirror, type Source } from './mirror.ts';
import { createObjects } from './objects.ts';
import { read } from './read.ts';
import { createPacked, createRefs } from './refs.ts';
import { borrowing, locate, type Place } from './repository.ts';
import { search } from './search.ts';
import { type Format, makeStandIn } from './stand-in.ts';
import { complete, listTemplates } from './templates.ts';
import { createTrees } from './trees.ts';
import { createWatching } from './watch.ts';

export { pathBelow, SCHEME } from './address.ts';
export { type GitConfig, type GitOptions, gitConfig } from './config.ts';

/** Commands that wait for their turn. */
const MAX_WAITING = 1_000;

/**
 * @throws ResourceError `invalid` when there is no repository, or it leads elsewhere; `unavailable` when there is no git.
 *   The message has the path as it was given, since it is for whoever starts the server.
 */
export async function gitProvider(options: GitOptions): Promise<ResourceProvider> {
  const { path, name, program = 'git', ...rest } = options;
  const rules = gitConfig.omit({ git: true }).parse(rest);
  const version = await versionOf(program);
  const place = await locate(path);
  const borrowed = rules.alternates ? undefined : await borrowing(place);
  if (borrowed !== undefined)
    throw invalid(`${path} has objects elsewhere, by ${borrowed}; say alternates: true to serve those too`);
  const config = await readFile(join(place.commonDirectory, 'config')).catch(() => undefined);
  const format = await formatOf(program, config, path);
  const standIn = makeStandIn(place, format, rules.alternates);
  return openRepository({
    name: name ?? place.called,
    rules,
    program,
    version,
    place,
    watched: place,
    format,
    directory: standIn.directory,
    base: '',
    refresh: async () => {},
    close: async () => standIn.remove(),
  });
}

export interface GitFolderOptions {
  readonly source: Source;
  /** The name of the root. */
  readonly name: string;
  /** The path of its root in the URIs by which others know it, for links: `/project/.git`. */
  readonly base: string;
  /** Where it lies on this machine, to be told of changes. */
  readonly path: string;
}

/**
 * A repository in a folder that others write in: whatever is put into it, nothing outside of it is read
 * (`docs/decisions/0050-nested-git.md`).
 * @throws ResourceError `invalid`, `too-large`, `unavailable`
 */
export async function gitFolderProvider({ source, name, base, path }: GitFolderOptions): Promise<ResourceProvider> {
  const program = 'git';
  const version = await versionOf(program);
  const format = await formatOf(program, await configurationOf(source), 'the repository');
  const mirror = await makeMirror(source, format);
  const { directory, refresh, close } = mirror;
  const watched: Place = { gitDirectory: path, commonDirectory: path, called: name };
  return openRepository({
    name,
    rules: gitConfig.omit({ git: true }).parse({}),
    program,
    version,
    place: { ...mirror.place, called: name },
    watched,
    format,
    directory,
    base,
    refresh,
    close,
  });
}

interface Opening extends Pick<Repository, 'name' | 'place' | 'watched' | 'base' | 'refresh'> {
  readonly rules: Omit<GitConfig, 'git'>;
  readonly program: string;
  readonly version: Git['version'];
  readonly format: Format;
  /** The folder that git is run in. */
  readonly directory: string;
  readonly close: () => Promise<void>;
}

function openRepository(opening: Opening): ResourceProvider {
  const { rules, program, version, place, format, directory, refresh } = opening;
  const queue = createFairQueue({
    places: rules.maxProcesses,
    // A search reads what a command that is still running has found.
    keepsFrom: 3,
    maxWaiting: MAX_WAITING,
    maxWaitMs: Math.max(MAX_WAIT_MS, rules.timeoutSeconds * 1_000),
    busy: 'Too much is asked of this repository at a time; try again later',
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
  /** The repository as somebody asks it: what is known of it is shared, and commands wait for the turn of who asks. */
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

const run = promisify(execFile);

/** Milliseconds that git has for saying its version. */
const START_MS = 10_000;

/** Versions of programs, asked once. */
const versions = new Map<string, Promise<Git['version']>>();

function versionOf(program: string): Promise<Git['version']> {
  const known = versions.get(program) ?? askVersion(program);
  versions.set(program, known);
  known.catch(() => versions.delete(program));
  return known;
}

async function askVersion(program: string): Promise<Git['version']> {
  const { stdout } = await run(program, ['--version'], { timeout: START_MS }).catch((cause: unknown) => {
    throw new ResourceError('unavailable', 'git cannot be started here; install it to serve repositories', { cause });
  });
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const version = [Number(major), Number(minor)] as const;
  if (!isAtLeast(version, OLDEST_GIT))
    throw new ResourceError('unavailable', `git ${OLDEST_GIT.join('.')} or later is needed; here is ${stdout.trim()}`);
  return version;
}

/** For a command that reads its input, and nothing else. */
const QUIET = {
  PATH: process.env.PATH,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  HOME: tmpdir(),
};

/** How objects and references are kept: all that is taken from the repository's configuration. */
async function formatOf(program: string, config: Buffer | undefined, path: string): Promise<Format> {
  // Most have nothing to say about it, and are not worth a process.
  if (config === undefined || !/extensions/i.test(config.toString('latin1')))
    return { objectFormat: 'sha1', reftable: false };
  const args = ['config', '--file', '-', '--no-includes', '--get-regexp', '^extensions\\.'];
  const running = run(program, args, { timeout: START_MS, cwd: tmpdir(), env: QUIET });
  running.child.stdin?.on('error', () => {}).end(config);
  const { stdout } = await running.catch((error: { readonly code?: unknown }) => {
    // 1: there is nothing of that kind.
    if (error.code === 1) return { stdout: '' };
    throw new ResourceError('invalid', `The configuration of ${path} cannot be read`, { cause: error });
  });
  const said = new Map(stdout.split('\n').map((line) => line.toLowerCase().split(' ') as [string, string | undefined]));
  const objectFormat = said.get('extensions.objectformat') ?? 'sha1';
  const storage = said.get('extensions.refstorage') ?? 'files';
  if (objectFormat !== 'sha1' && objectFormat !== 'sha256')
    throw invalid(`${path} keeps its objects in a way that is not known here: ${objectFormat}`);
  if (storage !== 'files' && storage !== 'reftable')
    throw invalid(`${path} keeps its references in a way that is not known here: ${storage}`);
  return { objectFormat, reftable: storage === 'reftable' };
}
