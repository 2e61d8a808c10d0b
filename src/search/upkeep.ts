/** Fills an index and keeps it up to date while the server runs: with watches, and by looking at everything again from time to time. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../core/context.ts';
import type { IndexContext, IndexFigures, IndexState } from '../core/ranked.ts';
import { createCrawler } from './crawler.ts';
import { reasonOf } from './faults.ts';
import { createFollowing, type Following } from './following.ts';
import type { IndexStore } from './index-store.ts';
import { kindOf } from './kinds.ts';
import { createRest } from './rest.ts';
import { SqlFault } from './thread.ts';
import { type Vectors, withVectors } from './vectors.ts';

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

const NOTHING: IndexFigures = { resources: 0, passages: 0, bytes: 0, leftOut: {} };

/** The mount with the state of the server itself, which is never in an index. */
const OWN_MOUNT = 'vitrine';

export interface Upkeep {
  readonly state: IndexState['state'];
  /** Why the index cannot be used, while `state` is `down`. */
  readonly reason: string | undefined;
  readonly figures: IndexFigures;
  /** Resolves when the index has been opened for the first time, or could not be. */
  readonly opened: Promise<void>;
  /** Resolves when the index has been filled for the first time, or could not be. */
  readonly settled: Promise<void>;
  /** Looks at everything again. */
  lookAgain(): void;
  /** Grows when the index is opened again, and when this server takes it over from another one. */
  readonly tenure: number;
  /**
   * Opens the database again after a fault: of a question, or of the connection.
   * @param asked the tenure in which the question began. A question of an earlier one may have met an index that is no more.
   */
  fail(fault: SqlFault, asked?: number): void;
  /** Waits until the work has ended. The store stays open. */
  close(): Promise<void>;
}

export interface UpkeepOptions {
  readonly context: IndexContext;
  readonly store: IndexStore;
  readonly vectors: Vectors | undefined;
  /** Whether the index has mounts that do not say whether they belong in it. */
  readonly everything: boolean;
  readonly rescanSeconds: number;
  /** The work ends when its signal aborts. */
  readonly ctx: Context;
}

/** Begins at once. `close` waits for the signal of `ctx`: abort it first. */
export function createUpkeep({ context, store, vectors, everything, rescanSeconds, ctx }: UpkeepOptions): Upkeep {
  const { signal, log } = ctx;
  let state: IndexState['state'] = 'opening';
  let reason: string | undefined;
  let figures = NOTHING;
  let failure: { readonly fault: SqlFault; readonly asked: number | undefined } | undefined;
  let tenure = 0;
  /** The error in the log, until the index can be used again. */
  let logged: string | undefined;
  const rest = createRest(signal);
  let settle = (): void => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
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
  /** Whether the watches of the first round are in place: a resource found later is looked at again once it is watched. */
  let isFollowing = false;

  function watchesInside(uri: string): boolean {
    const mount = context.mountOf(uri);
    return context.mounts().find(({ name }) => name === mount)?.provider.features.watchesInside === true;
  }

  function changed(uri: string): void {
    crawler.changed(uri);
    rest.wake();
  }

  function lookAgain(): void {
    crawler.again();
    rest.wake();
  }

  const isOver = (asked: number | undefined): boolean => asked !== undefined && asked < tenure;

  function fail(fault: SqlFault, asked?: number): void {
    if (isOver(asked)) return;
    failure = { fault, asked };
    rest.wake();
  }

  function beginTenure(): void {
    tenure++;
    if (failure !== undefined && isOver(failure.asked)) failure = undefined;
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
      await rest.wait(LEASE_MS);
      signal.throwIfAborted();
      if (failure !== undefined) throw failure.fault;
    }
    if (store.sharing !== undefined) beginTenure();
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
        await rest.wait(left);
        signal.throwIfAborted();
        if (failure !== undefined) throw failure.fault;
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
        await store.open();
        beginTenure();
        state = 'building';
        open();
        await waitForLead();
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
        if (!damaged) await rest.wait(RETRY_MS);
      }
    }
    open();
    settle();
  }

  const running = run();

  return {
    get state() {
      return state;
    },
    get reason() {
      return reason;
    },
    get figures() {
      return figures;
    },
    get tenure() {
      return tenure;
    },
    opened,
    settled,
    lookAgain,
    fail,
    async close() {
      await running;
      await following?.close();
    },
  };
}
