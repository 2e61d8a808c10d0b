/**
 * A whole tree, level by level. It may have cycles and no end: what was seen is not gone into again, and depth, number and
 * pages are bounded, each stop with its reason (2093-10).
 */
import { WALK_META_KEY } from '../protocol/meta.ts';
import type { CallOptions } from './asking.ts';
import type { Children } from './children.ts';
import {
  DEFAULT_MAX_PAGES,
  type ListOptions,
  type ListPage,
  type ListVia,
  newReport,
  type OpenReport,
  oneByOne,
} from './paging.ts';
import { ancestorsOf, identityOf, isListable, type ListedResource } from './shapes.ts';

/** The decision of a filter on an entry: give it and go down (true), neither (false), only give it, only go down. */
export type WalkVerdict = boolean | 'give' | 'descend';

export interface WalkOptions extends CallOptions {
  /** Levels below the start; 1 is its children. Default 32. */
  readonly maxDepth?: number | undefined;
  /** Resources that are looked at, given or not. Default 10,000. */
  readonly maxResources?: number | undefined;
  /** Pages of one container. Default 10,000. */
  readonly maxPages?: number | undefined;
  /** Containers that are listed at the same time, at most. The order stays the same. Default 4. */
  readonly concurrency?: number | undefined;
  /** Decides over each resource. Default: all are given and gone into. */
  readonly filter?: ((entry: WalkEntry) => WalkVerdict) | undefined;
  /** Told of each stop as it comes. */
  readonly onStop?: ((stop: WalkStop) => void) | undefined;
}

export interface WalkEntry {
  readonly resource: ListedResource;
  /** 1 for children of the start, and for what the default list has at its top. */
  readonly depth: number;
  /** The container that it was found in; undefined for what the default list has at its top. */
  readonly parent: string | undefined;
}

/** Something that was not gone into, or not to its end. */
export interface WalkStop {
  readonly reason: /** Deeper than `maxDepth`. */
    | 'max-depth'
    /** As many resources as were wanted. */
    | 'max-resources'
    /** A container that was reached before, on another way: a cycle, or a second link. */
    | 'visited'
    | 'repeated-cursor'
    /** Page after page had nothing new in it, of one container or of many. */
    | 'no-progress'
    | 'max-pages'
    /** The server's own limit ended a list (`vitrine/truncatedBy`). */
    | 'truncated'
    /** A container could not be listed: `error` says why. */
    | 'failed';
  /** The container; undefined for the default list. */
  readonly uri: string | undefined;
  readonly depth: number;
  readonly error?: unknown;
}

export interface WalkReport {
  /** Resources that were looked at. */
  readonly resources: number;
  /** Containers that were listed. */
  readonly containers: number;
  /** How the lists were had. */
  readonly via: ReadonlySet<ListVia>;
  /** The first thousand stops. */
  readonly stops: readonly WalkStop[];
  /** How many there were of each reason. */
  readonly stopped: Readonly<Partial<Record<WalkStop['reason'], number>>>;
  /** The walk came to its end, and saw everything: there were no stops but `visited`. */
  readonly complete: boolean;
}

/** Goes on as it is read. Can be gone through once. */
export interface Walk extends AsyncIterable<WalkEntry> {
  /** How the walk went, so far. */
  readonly report: WalkReport;
}

export const DEFAULT_MAX_DEPTH = 32;
export const DEFAULT_MAX_WALKED = 10_000;
export const DEFAULT_CONCURRENCY = 4;

const MAX_STOPS = 1_000;

/** Pages with nothing new in them, of all containers together, after which a walk ends. */
const MAX_FRUITLESS_OF_WALK = 1_000;

interface Task {
  readonly uri: string | undefined;
  readonly depth: number;
  readonly pages: AsyncGenerator<ListPage, void, undefined>;
  readonly report: OpenReport;
  next: Promise<IteratorResult<ListPage, void>> | undefined;
  /** Pages with nothing new in them that are counted already. */
  fruitless: number;
  /** The list went on below what is at its top. */
  below: boolean;
}

interface Seen {
  readonly depth: number;
  readonly parent: string | undefined;
  /** Its children are listed, or will be. */
  entered: boolean;
}

/** A walk goes into a container that says `vitrine/walk: false` only when it starts there. */
const goesInto = (resource: ListedResource): boolean =>
  isListable(resource) === true && resource._meta?.[WALK_META_KEY] !== false;

/** How a walk gets its lists. */
export interface WalkSource {
  readonly children: Children;
  defaultList(options: ListOptions, report: OpenReport): AsyncGenerator<ListPage, void, undefined>;
}

export function createWalk(source: WalkSource, start: string | undefined, options: WalkOptions): Walk {
  const {
    maxDepth = DEFAULT_MAX_DEPTH,
    maxResources = DEFAULT_MAX_WALKED,
    maxPages = DEFAULT_MAX_PAGES,
    concurrency = DEFAULT_CONCURRENCY,
    filter,
    onStop,
    signal,
    ...call
  } = options;
  const abort = new AbortController();
  const given = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
  const seen = new Map<string, Seen>();
  const stops: WalkStop[] = [];
  const stopped: Partial<Record<WalkStop['reason'], number>> = {};
  const via = new Set<ListVia>();
  const tasks: Task[] = [];
  let containers = 0;
  let fruitless = 0;
  let ended = false;

  function stop(reason: WalkStop['reason'], uri: string | undefined, depth: number, error?: unknown): void {
    const each: WalkStop = { reason, uri, depth, ...(error !== undefined && { error }) };
    stopped[reason] = (stopped[reason] ?? 0) + 1;
    if (stops.length < MAX_STOPS) stops.push(each);
    onStop?.(each);
  }

  function enter(uri: string | undefined, depth: number): void {
    const report = newReport();
    const lists = { ...call, signal: given, maxPages };
    const pages =
      uri === undefined
        ? source.defaultList(lists, report)
        : source.children.pages(uri, { ...lists, deep: true, scopedOnly: uri !== start }, report);
    tasks.push({ uri, depth, pages, report, next: undefined, fruitless: 0, below: false });
    containers++;
  }

  /** The container of an entry in a list of several containers: the nearest ancestor that was seen. */
  function place(resource: ListedResource, task: Task): { depth: number; parent: string | undefined } {
    const flat = task.uri === undefined || task.report.via === 'flat-list';
    if (!flat) return { depth: task.depth + 1, parent: task.uri };
    for (const ancestor of ancestorsOf(resource.uri)) {
      const found = seen.get(identityOf(ancestor));
      if (found !== undefined) return { depth: found.depth + 1, parent: ancestor };
    }
    return { depth: task.depth + 1, parent: task.uri };
  }

  /** @returns what is given of an entry: it, or nothing */
  function take(resource: ListedResource, task: Task): WalkEntry | undefined {
    const identity = identityOf(resource.uri);
    const before = seen.get(identity);
    const { depth, parent } = place(resource, task);
    if (depth > task.depth + 1) task.below = true;
    if (before !== undefined) {
      // The default list has what its containers have: that is no second way.
      if (before.entered && before.parent !== parent) stop('visited', resource.uri, depth);
      return undefined;
    }
    if (depth > maxDepth) {
      stop('max-depth', resource.uri, depth);
      return undefined;
    }
    const entry: WalkEntry = { resource, depth, parent };
    const verdict = filter?.(entry) ?? true;
    const enters = (verdict === true || verdict === 'descend') && task.report.via !== 'flat-list' && goesInto(resource);
    const deeper = depth < maxDepth;
    seen.set(identity, { depth, parent, entered: enters });
    if (enters && deeper) enter(resource.uri, depth);
    else if (enters) stop('max-depth', resource.uri, depth);
    return verdict === true || verdict === 'give' ? entry : undefined;
  }

  /**
   * Notes why a list ended. A default list that is cut short goes level by level: once it is below its top, the top is whole,
   * and the walk lists each container of it anyway.
   */
  function finish({ uri, depth, report, below }: Task): void {
    if (report.stopped !== undefined && report.stopped !== 'end') stop(report.stopped, uri, depth);
    if (report.truncatedBy !== undefined && !(uri === undefined && below)) stop('truncated', uri, depth);
  }

  /** Asks for the next pages of the first tasks. */
  function look(): void {
    for (const task of tasks.slice(0, Math.max(1, concurrency))) {
      if (task.next !== undefined) continue;
      task.next = task.pages.next();
      // Looked at when it is its turn.
      task.next.catch(() => {});
    }
  }

  async function* run(): AsyncGenerator<readonly WalkEntry[], void, undefined> {
    try {
      if (start !== undefined) seen.set(identityOf(start), { depth: 0, parent: undefined, entered: true });
      enter(start, 0);
      for (let task = tasks[0]; task !== undefined; task = tasks[0]) {
        look();
        let page: IteratorResult<ListPage, void> | undefined;
        try {
          page = await task.next;
        } catch (error) {
          given.throwIfAborted();
          if (containers === 1) throw error;
          stop('failed', task.uri, task.depth, error);
        }
        task.next = undefined;
        if (task.report.via !== undefined) via.add(task.report.via);
        fruitless += task.report.fruitless - task.fruitless;
        task.fruitless = task.report.fruitless;
        if (page === undefined || page.done === true) {
          tasks.shift();
          if (page !== undefined) finish(task);
          continue;
        }
        const entries: WalkEntry[] = [];
        let full = false;
        for (const resource of page.value.resources) {
          full = seen.size - (start === undefined ? 0 : 1) >= maxResources && !seen.has(identityOf(resource.uri));
          if (full) break;
          const entry = take(resource, task);
          if (entry !== undefined) entries.push(entry);
        }
        if (full) stop('max-resources', task.uri, task.depth);
        yield entries;
        if (full) return;
        if (fruitless < MAX_FRUITLESS_OF_WALK) continue;
        stop('no-progress', task.uri, task.depth);
        return;
      }
      ended = true;
    } finally {
      abort.abort();
    }
  }

  const entries = oneByOne(run());
  return {
    [Symbol.asyncIterator]: () => entries,
    get report() {
      const complete = ended && Object.keys(stopped).every((reason) => reason === 'visited');
      const resources = seen.size - (start !== undefined && seen.size > 0 ? 1 : 0);
      return { resources, containers, via, stops, stopped, complete };
    },
  };
}
