/**
 * Walks a whole tree, level by level. The tree may have cycles and be endless: the walk enters each container once, and
 * limits depth, number and pages. Each stop has a reason (2093-10).
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

/** A filter's decision on an entry: yield it and descend (true), neither (false), only yield it, or only descend. */
export type WalkVerdict = boolean | 'give' | 'descend';

export interface WalkOptions extends CallOptions {
  /** The most levels below the start; its children are level 1. Default 32. */
  readonly maxDepth?: number | undefined;
  /** The most resources to visit, yielded or not. Default 10,000. */
  readonly maxResources?: number | undefined;
  /** The most pages of one container. Default 10,000. */
  readonly maxPages?: number | undefined;
  /** The most containers that are listed concurrently. The order stays the same. Default 4. */
  readonly concurrency?: number | undefined;
  /** Decides about each resource. Default: all are yielded and entered. */
  readonly filter?: ((entry: WalkEntry) => WalkVerdict) | undefined;
  /** Called with each stop. */
  readonly onStop?: ((stop: WalkStop) => void) | undefined;
}

export interface WalkEntry {
  readonly resource: ListedResource;
  /** 1 for children of the start, and for the top level of the default list. */
  readonly depth: number;
  /** The container of the entry; undefined for the top level of the default list. */
  readonly parent: string | undefined;
}

/** A container that was not entered, or not listed to its end; or a resource that is too deep. */
export interface WalkStop {
  readonly reason: /** Deeper than `maxDepth`. */
    | 'max-depth'
    /** The limit of resources was reached. */
    | 'max-resources'
    /** A container that was reached before by another path: a cycle, or a second link. */
    | 'visited'
    | 'repeated-cursor'
    /** Too many pages in a row had no new entry, in one container or in total. */
    | 'no-progress'
    | 'max-pages'
    /** The server's own limit ended a list (`vitrine/truncatedBy`). */
    | 'truncated'
    /** A container could not be listed: `error` says why. */
    | 'failed';
  /** The container or resource; undefined for the default list. */
  readonly uri: string | undefined;
  readonly depth: number;
  readonly error?: unknown;
}

export interface WalkReport {
  /** The number of visited resources. */
  readonly resources: number;
  /** The number of listed containers. */
  readonly containers: number;
  /** How the lists were read. */
  readonly via: ReadonlySet<ListVia>;
  /** The first thousand stops. */
  readonly stops: readonly WalkStop[];
  /** The number of stops for each reason. */
  readonly stopped: Readonly<Partial<Record<WalkStop['reason'], number>>>;
  /** Whether the walk has ended and has visited everything: the only stops were `visited`. */
  readonly complete: boolean;
}

/** A walk proceeds while it is iterated over, which can be done once. */
export interface Walk extends AsyncIterable<WalkEntry> {
  /** The progress of the walk. */
  readonly report: WalkReport;
}

export const DEFAULT_MAX_DEPTH = 32;
export const DEFAULT_MAX_WALKED = 10_000;
export const DEFAULT_CONCURRENCY = 4;

const MAX_STOPS = 1_000;

/** A walk ends after this many pages without new entries in all containers together. */
const MAX_FRUITLESS_OF_WALK = 1_000;

interface Task {
  readonly uri: string | undefined;
  readonly depth: number;
  readonly pages: AsyncGenerator<ListPage, void, undefined>;
  readonly report: OpenReport;
  next: Promise<IteratorResult<ListPage, void>> | undefined;
  /** The number of pages without new entries that the walk has counted already. */
  fruitless: number;
  /** Whether the list has continued below its top level. */
  below: boolean;
}

interface Seen {
  readonly depth: number;
  readonly parent: string | undefined;
  /** Whether its children are listed, or will be. */
  entered: boolean;
}

/** A walk enters a container with `vitrine/walk: false` only when it starts there. */
const goesInto = (resource: ListedResource): boolean =>
  isListable(resource) === true && resource._meta?.[WALK_META_KEY] !== false;

/** How a walk reads lists. */
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
  const walkSignal = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
  const seen = new Map<string, Seen>();
  const stops: WalkStop[] = [];
  const stopped: Partial<Record<WalkStop['reason'], number>> = {};
  const via = new Set<ListVia>();
  const tasks: Task[] = [];
  let containers = 0;
  let fruitless = 0;
  let ended = false;

  function stop(reason: WalkStop['reason'], uri: string | undefined, depth: number, error?: unknown): void {
    const record: WalkStop = { reason, uri, depth, ...(error !== undefined && { error }) };
    stopped[reason] = (stopped[reason] ?? 0) + 1;
    if (stops.length < MAX_STOPS) stops.push(record);
    onStop?.(record);
  }

  function enter(uri: string | undefined, depth: number): void {
    const report = newReport();
    const lists = { ...call, signal: walkSignal, maxPages };
    const pages =
      uri === undefined
        ? source.defaultList(lists, report)
        : source.children.pages(uri, { ...lists, deep: true, scopedOnly: uri !== start }, report);
    tasks.push({ uri, depth, pages, report, next: undefined, fruitless: 0, below: false });
    containers++;
  }

  /** Finds the container of an entry in a list of several containers: the nearest known ancestor. */
  function place(resource: ListedResource, task: Task): { depth: number; parent: string | undefined } {
    const flat = task.uri === undefined || task.report.via === 'flat-list';
    if (!flat) return { depth: task.depth + 1, parent: task.uri };
    for (const ancestor of ancestorsOf(resource.uri)) {
      const found = seen.get(identityOf(ancestor));
      if (found !== undefined) return { depth: found.depth + 1, parent: ancestor };
    }
    return { depth: task.depth + 1, parent: task.uri };
  }

  /** @returns the entry to yield, or undefined */
  function take(resource: ListedResource, task: Task): WalkEntry | undefined {
    const identity = identityOf(resource.uri);
    const before = seen.get(identity);
    const { depth, parent } = place(resource, task);
    if (depth > task.depth + 1) task.below = true;
    if (before !== undefined) {
      // The default list repeats entries of containers: that is not a second path.
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
   * Records why a list ended. A truncated default list goes level by level: once it is below its top level, the top
   * level is complete, and the walk lists each of its containers anyway.
   */
  function finish({ uri, depth, report, below }: Task): void {
    if (report.stopped !== undefined && report.stopped !== 'end') stop(report.stopped, uri, depth);
    if (report.truncatedBy !== undefined && !(uri === undefined && below)) stop('truncated', uri, depth);
  }

  /** Requests the next pages of the first tasks. */
  function requestNext(): void {
    for (const task of tasks.slice(0, Math.max(1, concurrency))) {
      if (task.next !== undefined) continue;
      task.next = task.pages.next();
      // An error is handled when it is the task's turn.
      task.next.catch(() => {});
    }
  }

  async function* run(): AsyncGenerator<readonly WalkEntry[], void, undefined> {
    try {
      if (start !== undefined) seen.set(identityOf(start), { depth: 0, parent: undefined, entered: true });
      enter(start, 0);
      for (let task = tasks[0]; task !== undefined; task = tasks[0]) {
        requestNext();
        let page: IteratorResult<ListPage, void> | undefined;
        try {
          page = await task.next;
        } catch (error) {
          walkSignal.throwIfAborted();
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
