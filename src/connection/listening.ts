/**
 * Changes at a server, watched once for all who want to know, in whichever era it speaks: `resources/subscribe`, or one
 * `subscriptions/listen` stream. After a connection is back, everything that is watched is watched again.
 */
import type { SubscriptionFilter } from '@modelcontextprotocol/client';
import { abortable, withOwnSignal } from '../core/waiting/abortable.ts';
import type { Data, Era } from './data.ts';
import { createListenStream, type StreamSource } from './listen-stream.ts';
import { REFUSED } from './pauses.ts';
import { ancestorsOf, identityOf } from './uris.ts';

/** A connection, as far as watching needs it. */
export interface ListeningLink extends StreamSource {
  readonly era: Era;
  request(
    method: string,
    params: Data,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<unknown>;
}

/** The way to one. */
export interface ListeningConnection<Link> {
  /** The connection, made if there is none. */
  get(signal?: AbortSignal): Promise<Link>;
  readonly current: Link | undefined;
  /** Keeps it up until the lease is disposed of. */
  keep(): Disposable;
}

/** Lists that a server tells of. */
export type ListName = 'resources' | 'tools' | 'prompts';

export interface ListeningSetup<Link> {
  readonly connection: ListeningConnection<Link>;
  readonly timeoutMs: number;
  /** Whether the server says that it tells of this list. */
  tells(list: ListName, link: Link): boolean;
  /** Whether all lists are asked for where one is wanted, so that the stream stays as it is when another one is wanted too. */
  readonly listsTogether?: boolean;
  /** Whether it says that its resources can be watched, in the 2025 era. */
  subscribes(link: Link): boolean;
  /** Makes the error for a resource that the server does not let be watched. */
  refusal(uri: string): Error;
  /** The stream was interrupted, and is back: what came meanwhile is lost. */
  reopened(): void;
  /** A resource whose subscription was refused after the connection was back is watched now. */
  restored(uri: string): void;
  /** Something failed that is tried again. @param what for a log */
  failed?(what: string, error: unknown, uri?: string): void;
  /** The server was not told that a resource is not watched any more, which changes nothing. */
  notTold?(error: unknown, uri: string): void;
}

export interface Listening<Link, Listener> {
  /** Resources that are watched. */
  readonly size: number;
  /** Whether anything is watched. */
  readonly busy: boolean;
  readonly uris: readonly string[];
  of(uri: string): readonly Listener[];
  ofList(list: ListName): readonly Listener[];
  /** Returns the watched URIs that are those of the changed resource, or of a container around it. */
  watchedBy(uri: string): readonly string[];
  /** Resolves when the server tells of the resource. @throws what it refuses with; the signal's reason */
  add(uri: string, listener: Listener, signal?: AbortSignal): Promise<void>;
  remove(uri: string, listener: Listener): Promise<void>;
  addTo(list: ListName, listener: Listener): void;
  removeFrom(list: ListName, listener: Listener): Promise<void>;
  /** Resolves when the server tells of the task, or was asked to. */
  addToTask(taskId: string, listener: Listener): Promise<void>;
  removeFromTask(taskId: string, listener: Listener): Promise<void>;
  ofTask(taskId: string): readonly Listener[];
  /** Opens the stream anew, for what is watched now. */
  listen(link: Link): Promise<unknown>;
  /** Does that again after a pause, until it works. */
  listenLater(link: Link): void;
  /** Everything is watched over a new connection. Resolves when that was tried. */
  restore(link: Link): Promise<void>;
  /** Resolves when what is under way now is over. */
  settled(): Promise<void>;
  /** @param reason what those are told who still wait */
  close(reason: unknown): Promise<void>;
}

interface Watched<Listener> {
  readonly listeners: Set<Listener>;
  /** Settles when the server tells of it; what comes next for the same URI waits for it. */
  ready: Promise<void>;
}

/** Subscriptions that are restored at the same time. */
const CONCURRENCY = 16;

/** How long is waited for a server to be told that something is not watched any more, in milliseconds. */
const END_MS = 1_000;

/** Of a resource that changed: the longest URI that is looked at, in characters. */
const MAX_URI_LENGTH = 65_536;

export function createListening<Link extends ListeningLink, Listener>(
  setup: ListeningSetup<Link>,
): Listening<Link, Listener> {
  const { connection, timeoutMs } = setup;
  const resources = new Map<string, Watched<Listener>>();
  /** The same by what they are, however they are spelled: there may be many, and each change is looked for. */
  const spellings = new Map<string, Set<string>>();
  const lists: Readonly<Record<ListName, Set<Listener>>> = {
    resources: new Set(),
    tools: new Set(),
    prompts: new Set(),
  };
  const tasks = new Map<string, Set<Listener>>();
  const underWay = new Set<Promise<unknown>>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  /** Those that are not waited for any more when all is ending. */
  const leaving = new Set<() => void>();
  const lifetime = new AbortController();
  const limits = { timeoutMs, signal: lifetime.signal };
  let keeping: Disposable | undefined;

  const busy = (): boolean =>
    resources.size > 0 || tasks.size > 0 || Object.values(lists).some((listeners) => listeners.size > 0);

  /** As long as something is watched, the connection is kept up. */
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

  /** After a pause, as long as the connection lasts; the next one is taken care of when it is there. */
  function later(link: Link, pauseMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!link.ended && !lifetime.signal.aborted) act();
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

  /** Subscribes again to what is still watched; what fails is tried again, and told of when it works. */
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

  /** Makes the server tell of one resource. */
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

  /** Goes on where it takes long, or where all is ending: what comes late changes nothing. */
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

  /** The stream is for what is watched now; where it cannot be, what it told of before goes on. */
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
    // A server that does not take back what it was asked for is left to its own.
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
