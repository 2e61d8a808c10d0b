/**
 * Watches changes at a server, once for all watchers, in the server's era: with `resources/subscribe`, or with one
 * `subscriptions/listen` stream. After a reconnection, it watches everything again.
 */
import type { SubscriptionFilter } from '@modelcontextprotocol/client';
import { abortable, withOwnSignal } from '../core/waiting/abortable.ts';
import type { ListName } from '../protocol/list-name.ts';
import type { Data, Era } from './data.ts';
import { createListenStream, type StreamSource } from './listen-stream.ts';
import { REFUSED } from './pauses.ts';
import { ancestorsOf, identityOf } from './uris.ts';

/** The part of a connection that watching needs. */
export interface ListeningLink extends StreamSource {
  readonly era: Era;
  request(
    method: string,
    params: Data,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<unknown>;
}

/** The connection to the server, which may be replaced. */
export interface ListeningConnection<Link> {
  /** Returns the connection; makes one if there is none. */
  get(signal?: AbortSignal): Promise<Link>;
  readonly current: Link | undefined;
  /** Keeps the connection up until the lease is disposed of. */
  keep(): Disposable;
}

export interface ListeningSetup<Link> {
  readonly connection: ListeningConnection<Link>;
  readonly timeoutMs: number;
  /** Whether the server declares changes of this list. */
  tells(list: ListName, link: Link): boolean;
  /** Whether to request all lists when one is watched, so that watching another one later does not change the stream. */
  readonly listsTogether?: boolean;
  /** Whether the server declares subscriptions, in the 2025 era. */
  subscribes(link: Link): boolean;
  /** Makes the error for a resource that the server refuses to watch. */
  refusal(uri: string): Error;
  /** The stream was interrupted and is back; changes in between are lost. */
  reopened(): void;
  /** A subscription that was refused after a reconnection works again. */
  restored(uri: string): void;
  /** An attempt failed and will be repeated. @param what the predicate of a log message about it */
  failed?(what: string, error: unknown, uri?: string): void;
  /** The server could not be told that a watch has ended, which does no harm. */
  notTold?(error: unknown, uri: string): void;
}

export interface Listening<Link, Listener> {
  /** The number of watched resources. */
  readonly size: number;
  /** Whether anything is watched. */
  readonly busy: boolean;
  readonly uris: readonly string[];
  of(uri: string): readonly Listener[];
  ofList(list: ListName): readonly Listener[];
  /** Returns the watched URIs of a changed resource and of its containers. */
  watchedBy(uri: string): readonly string[];
  /** Resolves when the server has agreed to report changes of the resource. @throws the server's refusal; the signal's reason */
  add(uri: string, listener: Listener, signal?: AbortSignal): Promise<void>;
  remove(uri: string, listener: Listener): Promise<void>;
  addTo(list: ListName, listener: Listener): void;
  removeFrom(list: ListName, listener: Listener): Promise<void>;
  /** Resolves when the server was asked to report changes of the task, even if it refused. */
  addToTask(taskId: string, listener: Listener): Promise<void>;
  removeFromTask(taskId: string, listener: Listener): Promise<void>;
  ofTask(taskId: string): readonly Listener[];
  /** Opens the stream for everything that is watched now. */
  listen(link: Link): Promise<unknown>;
  /** Opens the stream after a pause, and tries again until that works. */
  listenLater(link: Link): void;
  /** Watches everything over a new connection. Resolves after the first attempt. */
  restore(link: Link): Promise<void>;
  /** Resolves when all running work has ended. */
  settled(): Promise<void>;
  /** @param reason the error for callers that still wait */
  close(reason: unknown): Promise<void>;
}

interface Watched<Listener> {
  readonly listeners: Set<Listener>;
  /** Settles when the server has agreed or refused to report changes; later operations on the same URI wait for it. */
  ready: Promise<void>;
}

/** Subscriptions that are restored at the same time. */
const CONCURRENCY = 16;

/** How long to wait for the server to confirm that a watch has ended, in milliseconds. */
const END_MS = 1_000;

/** The longest URI of a changed resource that is considered, in characters. */
const MAX_URI_LENGTH = 65_536;

export function createListening<Link extends ListeningLink, Listener>(
  setup: ListeningSetup<Link>,
): Listening<Link, Listener> {
  const { connection, timeoutMs } = setup;
  const resources = new Map<string, Watched<Listener>>();
  /** The watched URIs by their canonical form, since each change is looked up among many. */
  const spellings = new Map<string, Set<string>>();
  const lists: Readonly<Record<ListName, Set<Listener>>> = {
    resources: new Set(),
    tools: new Set(),
    prompts: new Set(),
  };
  const tasks = new Map<string, Set<Listener>>();
  const underWay = new Set<Promise<unknown>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  /** Functions that stop waiting for the server to confirm the end of a watch. Closing calls them. */
  const leaving = new Set<() => void>();
  const lifetime = new AbortController();
  const limits = { timeoutMs, signal: lifetime.signal };
  let keeping: Disposable | undefined;

  const busy = (): boolean =>
    resources.size > 0 || tasks.size > 0 || Object.values(lists).some((listeners) => listeners.size > 0);

  /** Keeps the connection up while anything is watched. */
  function keep(): void {
    if (busy()) keeping ??= connection.keep();
    else {
      keeping?.[Symbol.dispose]();
      keeping = undefined;
    }
  }

  function put(uri: string, watched: Watched<Listener>): void {
    resources.set(uri, watched);
    const identity = identityOf(uri);
    spellings.set(identity, (spellings.get(identity) ?? new Set()).add(uri));
    keep();
  }

  function drop(uri: string, watched: Watched<Listener>): void {
    if (resources.get(uri) !== watched) return;
    resources.delete(uri);
    const same = spellings.get(identityOf(uri));
    same?.delete(uri);
    if (same?.size === 0) spellings.delete(identityOf(uri));
    keep();
  }

  function filter(link: Link): SubscriptionFilter & { readonly taskIds?: readonly string[] } {
    const anyList = setup.listsTogether === true && Object.values(lists).some((listeners) => listeners.size > 0);
    const wanted = (list: ListName): boolean => (anyList || lists[list].size > 0) && setup.tells(list, link);
    return {
      ...(wanted('resources') && { resourcesListChanged: true }),
      ...(wanted('tools') && { toolsListChanged: true }),
      ...(wanted('prompts') && { promptsListChanged: true }),
      ...(resources.size > 0 && { resourceSubscriptions: [...resources.keys()] }),
      ...(tasks.size > 0 && { taskIds: [...tasks.keys()] }),
    };
  }

  /** Acts after a pause, if the connection still exists; a new connection handles its own watches. */
  function later(link: Link, pauseMs: number, act: () => void): void {
    if (lifetime.signal.aborted) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!link.ended) act();
    }, pauseMs);
    timers.add(timer);
  }

  const stream = createListenStream<Link>({
    limits,
    filter,
    later,
    reopened: setup.reopened,
    failed: (error) => setup.failed?.('does not tell of changes now', error),
  });

  /** Subscribes again to everything that is still watched; repeats failed attempts, and reports when they succeed. */
  async function resubscribe(
    uris: readonly string[],
    link: Link,
    pauseMs: number = REFUSED.firstMs,
    tells = false,
  ): Promise<void> {
    const failed: string[] = [];
    async function one(uri: string): Promise<void> {
      if (!resources.has(uri) || link.ended) return;
      try {
        await begin(uri, link);
        if (tells) setup.restored(uri);
      } catch (error) {
        failed.push(uri);
        setup.failed?.('does not restore a subscription', error, uri);
      }
    }
    for (let at = 0; at < uris.length; at += CONCURRENCY) {
      await Promise.all(uris.slice(at, at + CONCURRENCY).map(one));
    }
    if (failed.length > 0) later(link, pauseMs, () => track(resubscribe(failed, link, REFUSED.longer(pauseMs), true)));
  }

  const request = (method: string, uri: string, link: Link): Promise<unknown> =>
    withOwnSignal(lifetime.signal, (signal) => link.request(method, { uri }, { timeoutMs, signal }));

  /** Asks the server to report changes of one resource. */
  async function begin(uri: string, link: Link): Promise<void> {
    if (link.era === 'legacy') {
      if (!setup.subscribes(link)) throw setup.refusal(uri);
      await request('resources/subscribe', uri, link);
      return;
    }
    const honoured = await stream.open(link);
    if (honoured.resourceSubscriptions?.includes(uri) !== true && resources.has(uri)) throw setup.refusal(uri);
  }

  async function beginFirst(uri: string): Promise<void> {
    const link = await connection.get(lifetime.signal);
    // If the connection ends meanwhile, the next one takes over the watches.
    await begin(uri, link).catch(async (error: unknown) => {
      if (!link.ended) throw error;
      await begin(uri, await connection.get(lifetime.signal));
    });
  }

  async function end(uri: string): Promise<void> {
    const link = connection.current;
    if (link === undefined || link.ended || lifetime.signal.aborted) return;
    await inTime(link.era === 'legacy' ? request('resources/unsubscribe', uri, link) : stream.open(link));
  }

  /** Waits for work at most for a time, or until closing; a late result has no effect. */
  function inTime(work: Promise<unknown>): Promise<unknown> {
    work.catch(() => {});
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        leaving.delete(late);
      };
      const late = (): void => {
        stop();
        resolve(undefined);
      };
      const timer = setTimeout(late, END_MS);
      leaving.add(late);
      work.then(resolve, reject).finally(stop);
    });
  }

  /** Reopens the stream for the present watches; where that fails, the old stream stays. */
  async function reopen(): Promise<void> {
    const link = connection.current;
    if (link?.era === 'modern' && !link.ended && !lifetime.signal.aborted) await stream.open(link).catch(() => {});
  }

  function track(work: Promise<unknown>): void {
    const tracked: Promise<unknown> = work.catch(() => {}).finally(() => underWay.delete(tracked));
    underWay.add(tracked);
  }

  async function remove(uri: string, listener: Listener): Promise<void> {
    const watched = resources.get(uri);
    if (watched === undefined || !watched.listeners.delete(listener) || watched.listeners.size > 0) return;
    drop(uri, watched);
    const ended = watched.ready.then(() => (resources.has(uri) ? undefined : end(uri)));
    track(ended);
    // A server that does not accept the end of a watch is ignored.
    await ended.catch((error: unknown) => setup.notTold?.(error, uri));
  }

  return {
    get size() {
      return resources.size;
    },
    get busy() {
      return busy();
    },
    get uris() {
      return [...resources.keys()];
    },
    of: (uri) => [...(resources.get(uri)?.listeners ?? [])],
    ofList: (list) => [...lists[list]],
    watchedBy(uri) {
      if (resources.size === 0 || uri.length > MAX_URI_LENGTH) return [];
      const changed = identityOf(uri);
      const around = new Set([changed, changed.replace(/#.*/s, ''), ...ancestorsOf(changed)].map(identityOf));
      return [...around].flatMap((each) => [...(spellings.get(each) ?? [])]);
    },

    async add(uri, listener, signal) {
      lifetime.signal.throwIfAborted();
      let watched = resources.get(uri);
      if (watched === undefined) {
        const made: Watched<Listener> = { listeners: new Set(), ready: Promise.resolve() };
        watched = made;
        put(uri, made);
        made.ready = beginFirst(uri).catch((error: unknown) => {
          drop(uri, made);
          throw error;
        });
      }
      watched.listeners.add(listener);
      try {
        await (signal === undefined ? watched.ready : abortable(watched.ready, signal));
      } catch (error) {
        void remove(uri, listener);
        throw error;
      }
    },
    remove,

    addTo(list, listener) {
      lists[list].add(listener);
      keep();
    },
    async addToTask(taskId, listener) {
      tasks.set(taskId, (tasks.get(taskId) ?? new Set()).add(listener));
      keep();
      await reopen();
    },
    async removeFromTask(taskId, listener) {
      const listeners = tasks.get(taskId);
      if (listeners?.delete(listener) !== true || listeners.size > 0) return;
      tasks.delete(taskId);
      keep();
      await reopen();
    },
    ofTask: (taskId) => [...(tasks.get(taskId) ?? [])],
    async removeFrom(list, listener) {
      if (!lists[list].delete(listener)) return;
      keep();
      await reopen();
    },

    listen: stream.open,
    listenLater: stream.openLater,

    async restore(link) {
      const restoring =
        link.era === 'legacy'
          ? resubscribe([...resources.keys()], link)
          : stream.open(link).catch((error: unknown) => {
              setup.failed?.('does not tell of changes now', error);
              stream.openLater(link);
            });
      track(restoring);
      await restoring;
    },
    async settled() {
      await Promise.allSettled([...underWay]);
    },

    async close(reason) {
      lifetime.abort(reason);
      for (const late of leaving) late();
      keeping?.[Symbol.dispose]();
      keeping = undefined;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      resources.clear();
      spellings.clear();
      for (const listeners of Object.values(lists)) listeners.clear();
      tasks.clear();
      stream.close();
      await Promise.allSettled([...underWay]);
    },
  };
}
