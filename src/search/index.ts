/**
 * An index of mounts, for ranked search. It keeps the words of every resource in a file or a database, and is kept up to date
 * while the server runs. It is filled with redacted texts, without access rules. These decide for each caller what is found,
 * and each hit is read as that caller.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createContext, type Log, SILENT } from '../core/context.ts';
import { invalid, ResourceError } from '../core/errors.ts';
import { globFilter } from '../core/glob/filter.ts';
import type { IndexContext, IndexFigures, IndexState, RankedIndex, RankedMatch, RankedSearch } from '../core/ranked.ts';
import { createCrawler } from './crawler.ts';
import { createEmbedder, type EmbeddingOptions } from './embeddings.ts';
import { createFollowing, type Following } from './following.ts';
import { fused } from './fusing.ts';
import type { IndexStore } from './index-store.ts';
import { kindOf, seenKinds } from './kinds.ts';
import { postgresPackage, sqlitePackage } from './library.ts';
import { DEFAULT_SCHEMA } from './postgres/schema.ts';
import { postgresStore } from './postgres/store.ts';
import { parseQuestion, questionOfName } from './question.ts';
import { createStore, type FileStore } from './store.ts';
import { termsIn } from './terms-in.ts';
import { SqlFault } from './thread.ts';
import { createVectors, withVectors } from './vectors.ts';

export interface IndexOptions {
  /** The folder of its files, made for this user only. One server has it at a time. Needed unless there is a `url`. */
  readonly folder?: string | undefined;
  /** `postgres://...` of a database instead of files. Servers share it: one of them follows changes, and all answer. */
  readonly url?: string | undefined;
  /** The schema of that database, which only the index uses. Default: `vitrine_index`. */
  readonly schema?: string | undefined;
  /** The most bytes of the database; texts without room are left out, and counted. Default: 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Whether one form of an English word finds the others. Default: `english`. */
  readonly stemming?: 'english' | 'off' | undefined;
  /** Whether é is found by e. Default: `fold`. */
  readonly diacritics?: 'fold' | 'keep' | undefined;
  /** Seconds between two looks at resources that do not report their changes. Default: 60. */
  readonly rescanSeconds?: number | undefined;
  /** Whether the index has mounts that do not say whether they belong in it. Default: `true`. */
  readonly everything?: boolean | undefined;
  /** Also finds by meaning, for which redacted texts and questions are sent to this server. Default: none. */
  readonly embeddings?: EmbeddingOptions | undefined;
  readonly log?: Log | undefined;
}

export const DEFAULT_INDEX_BYTES = 1024 ** 3;

const DEFAULT_RESCAN_SECONDS = 60;

/** If everything is watched, the index looks at all of it again only after this many times `rescanSeconds`. */
const WATCHED_FACTOR = 10;

/** The index waits at least this many times as long as its latest look at everything took before it begins the next one. */
const REST_FACTOR = 20;

/** Milliseconds until a failed index is opened again: another server has it, the disk is full, or the database does not answer. */
const RETRY_MS = 2_000;

/** Milliseconds from the opening of watches to a second look: until then, a list may be older than the watches. */
const SECOND_LOOK_MS = 1_200;

/** Milliseconds between two checks whether the server that follows changes is still there. */
const LEASE_MS = 1_000;

/** Milliseconds until the log reports the progress of an index that is being made: the first time, and each time after. */
const FIRST_PROGRESS_MS = 1_000;
const PROGRESS_MS = 10_000;

/** Changes within this many milliseconds are looked at together. */
const GATHER_MS = 20;

const NOTHING: IndexFigures = { resources: 0, passages: 0, bytes: 0, leftOut: {} };

/** Vectors of another version are made anew. */
const VECTORS_VERSION = '2';

/** The mount with the state of the server itself, which is never in an index. */
const OWN_MOUNT = 'vitrine';

/** @throws ResourceError `invalid` if a package is missing, or for neither folder nor URL, or for embeddings with a URL */
export function createIndex(options: IndexOptions): RankedIndex {
  const { url, folder } = options;
  if (url === undefined && folder === undefined) throw invalid('An index needs a folder or the URL of a database');
  if (url !== undefined && options.embeddings !== undefined)
    throw invalid(
      'Vectors are kept in the folder of an index, and an index in a database has none; leave out embeddings or the URL',
    );
  const library = url === undefined ? sqlitePackage() : postgresPackage();
  return {
    begin: (context) => beginIndex(options, library, context),
    async look() {
      try {
        return await storeOf(options, library, '', () => {}).look();
      } catch (error) {
        throw new ResourceError('unavailable', `The index cannot be looked at: ${reasonOf(error)}`, { cause: error });
      }
    },
  };
}

function storeOf(
  options: IndexOptions,
  library: string,
  settings: string,
  lost: (fault: SqlFault) => void,
): IndexStore | FileStore {
  const { log = SILENT, folder = '', url, schema = DEFAULT_SCHEMA, maxBytes = DEFAULT_INDEX_BYTES } = options;
  const { stemming = 'english', diacritics = 'fold' } = options;
  const common = { maxBytes, stemming, diacritics, settings };
  return url === undefined
    ? createStore({ ...common, folder, library })
    : postgresStore({ ...common, url, schema, log, lost });
}

function beginIndex(options: IndexOptions, library: string, context: IndexContext): RankedSearch {
  const { log = SILENT, everything = true, stemming = 'english', rescanSeconds = DEFAULT_RESCAN_SECONDS } = options;
  const ended = new AbortController();
  const { signal } = ended;
  const ctx = createContext({ principal: { id: 'vitrine:index' }, signal, log });
  const { embeddings } = options;
  const { settings } = context;
  const store = storeOf(options, library, settings, fail);
  const vectors =
    embeddings !== undefined && 'ask' in store
      ? createVectors({
          ...{ folder: options.folder ?? '', library, store, ctx, missed: lookAgain },
          settings: digest([VECTORS_VERSION, settings, embeddings.url, embeddings.model]),
          embedder: createEmbedder(embeddings, log),
        })
      : undefined;
  let state: IndexState['state'] = 'opening';
  let reason: string | undefined;
  let figures = NOTHING;
  let failure: unknown;
  /** The error in the log, until the index can be used again. */
  let logged: string | undefined;
  /** Whether servers share the index, and this server keeps it up to date. */
  let leads = false;
  /** Whether something to do has come while `rest` was not running. */
  let missed = false;
  const miss = (): void => {
    missed = true;
  };
  let wake = miss;
  let settle = (): void => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  /** `opened` resolves when the index has been opened for the first time, or could not be. */
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });

  const mountsIn = (): readonly string[] =>
    context
      .mounts()
      .filter(({ name, indexed, listed }) => name !== OWN_MOUNT && listed !== false && (indexed ?? everything))
      .map(({ name }) => name);

  const crawler = createCrawler({
    provider: context.provider,
    store: vectors === undefined ? store : withVectors(store, vectors),
    mounts: mountsIn,
    mountOf(uri) {
      const mount = context.mountOf(uri);
      return mount !== undefined && mountsIn().includes(mount) ? mount : undefined;
    },
    kindOf: (resource) => kindOf(resource, context),
    found: (resource, parent) => following?.found(resource, parent, isFollowing),
    lost: (uri) => following?.lost(uri),
    missed: () => following?.missed(),
    ctx,
  });
  let following: Following | undefined;
  /** Whether the watches of the first round are in place: what is found later is looked at once more when it is watched. */
  let isFollowing = false;

  function watchesInside(uri: string): boolean {
    const mount = context.mountOf(uri);
    return context.mounts().find(({ name }) => name === mount)?.provider.features.watchesInside === true;
  }

  function changed(uri: string): void {
    crawler.changed(uri);
    wake();
  }

  function lookAgain(): void {
    crawler.again();
    wake();
  }

  /** Waits for a time, or until there is something to do. */
  function rest(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, milliseconds).unref();
      let gathering: NodeJS.Timeout | undefined;
      function done(): void {
        clearTimeout(timer);
        clearTimeout(gathering);
        signal.removeEventListener('abort', done);
        wake = miss;
        resolve();
      }
      wake = () => {
        gathering ??= setTimeout(done, GATHER_MS);
      };
      if (missed) wake();
      missed = false;
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }

  /** Handles a fault of the database: it is opened again. */
  function fail(fault: SqlFault): void {
    // The fault is of a question from the time when another server had the index, before this one took it over.
    if (leads && isOthers(fault)) return;
    failure = fault;
    wake();
  }

  function usable(): void {
    logged = undefined;
    settle();
  }

  /** Logs why the index cannot be used: once, although it is tried again and again. */
  function logFault(error: unknown): void {
    const fault = `${reason}\n${error}`;
    if (fault !== logged) log.warn('the index cannot be used now', { error, reason });
    logged = fault;
  }

  /** Waits until no other server keeps the index up to date. @throws SqlFault; the reason of the signal */
  async function waitForLead(): Promise<void> {
    for (const { sharing } = store; sharing !== undefined && !(await sharing.lead()); ) {
      state = (await sharing.whole()) ? 'ready' : 'building';
      figures = await store.figures();
      if (state === 'ready') usable();
      await rest(LEASE_MS);
      signal.throwIfAborted();
      if (failure !== undefined) throw failure;
    }
    state = (await store.sharing?.whole()) === true ? 'ready' : 'building';
  }

  /** Logs the progress while the index is being made. */
  async function logProgress(until: AbortSignal): Promise<void> {
    for (let next = FIRST_PROGRESS_MS; ; next = PROGRESS_MS) {
      await pause(next, undefined, { signal: until, ref: false });
      figures = await store.figures();
      log.info('the index is being made', { ...figures });
    }
  }

  /** Looks at everything again when lists are no older than the watches: resources may have changed before they were watched. */
  function secondLook(): void {
    pause(SECOND_LOOK_MS, undefined, { signal, ref: false }).then(lookAgain, () => {});
  }

  /** Fills the index, and keeps it up to date. @throws SqlFault; the reason of the signal */
  async function keepUpToDate(): Promise<never> {
    isFollowing = false;
    following = createFollowing(context.provider, watchesInside, changed, ctx);
    await store.keepMounts(mountsIn());
    for (let round = 0; ; round++) {
      const begun = performance.now();
      const made = new AbortController();
      if (round === 0) logProgress(made.signal).catch(() => {});
      following.begin();
      crawler.again();
      await crawler.work().finally(() => made.abort());
      figures = await store.figures();
      await store.sharing?.setWhole();
      state = 'ready';
      usable();
      if (round === 0) {
        await vectors?.prune();
        log.info('the index is built', { ...figures });
      }
      await following.opened();
      if (round === 0) {
        isFollowing = true;
        secondLook();
      }
      const least = (performance.now() - begun) * REST_FACTOR;
      const until = performance.now() + Math.max(least, rescanSeconds * 1_000 * (following.whole ? WATCHED_FACTOR : 1));
      for (let left = until - performance.now(); left > 0; left = until - performance.now()) {
        await rest(left);
        signal.throwIfAborted();
        if (failure !== undefined) throw failure;
        await crawler.work();
        figures = await store.figures();
      }
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        state = 'opening';
        failure = undefined;
        leads = false;
        await store.open();
        state = 'building';
        open();
        await waitForLead();
        leads = store.sharing !== undefined;
        if (isOthers(failure)) failure = undefined;
        await keepUpToDate();
      } catch (error) {
        await following?.close();
        if (signal.aborted) break;
        state = 'down';
        reason = reasonOf(error);
        logFault(error);
        const damaged = error instanceof SqlFault && error.kind === 'damaged';
        await (damaged ? store.discard() : store.close());
        open();
        settle();
        if (!damaged) await rest(RETRY_MS);
      }
    }
    open();
    settle();
  }

  const running = run();

  return {
    async *find(query, caller) {
      if (state === 'opening') await opened;
      if (state === 'down' || state === 'opening') {
        throw new ResourceError(
          'unavailable',
          `The index cannot be used now${reason === undefined ? '' : `: ${reason}`}`,
        );
      }
      const parsed = query.byName ? questionOfName(query.text) : parseQuestion(query.text, stemming === 'english');
      const question = {
        ...parsed,
        filters: { ...parsed.filters, ...(query.uri !== undefined && { folder: query.uri }) },
      };
      const matchesGlob = globFilter(query.glob);
      const fits = termsIn(question);
      try {
        const { ids, unsure, keys } = await seenKinds(store, context, caller);
        // A place found by meaning need not have a required term, such as a phrase.
        const byMeaning = vectors !== undefined && !question.terms.some(({ required }) => required);
        const near = byMeaning ? await vectors.nearest(query.text, question.filters, keys, caller) : [];
        const kinds = query.byName ? [...keys.values()] : ids;
        for await (const { kind, path, uri, ...place } of fused(store.find(question, kinds), near)) {
          caller.signal.throwIfAborted();
          if (!matchesGlob(path)) continue;
          const match: RankedMatch = { uri, path, passage: { ...place, unsure: unsure.has(kind), fits } };
          yield match;
        }
      } catch (error) {
        if (!(error instanceof SqlFault)) throw error;
        fail(error);
        throw new ResourceError('unavailable', 'The index cannot be used now; try again', { cause: error });
      }
    },
    state: () => ({ state, ...(state === 'down' && { reason }), ...figures }),
    settled: () => settled,
    changed: lookAgain,
    async close() {
      ended.abort(new Error('The index is closed'));
      await running;
      await following?.close();
      await vectors?.close();
      await store.close();
    },
  };
}

/** Whether another server has the index. */
const isOthers = (fault: unknown): boolean => fault instanceof SqlFault && fault.kind === 'locked';

/** Returns a text that identifies settings without revealing them. */
const digest = (settings: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(settings)).digest('base64url');

function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error) return 'its folder or its file cannot be made or written';
  if (!(error instanceof SqlFault)) return 'it failed; the log has the cause';
  if (error.reason !== undefined) return error.reason;
  switch (error.kind) {
    case 'locked':
      return 'another server has its folder';
    case 'full':
      return 'its file cannot be written or read';
    case 'damaged':
      return 'its file is damaged, and is made anew';
    case 'gone':
    case 'other':
      return 'its database failed; the log has the cause';
  }
}
