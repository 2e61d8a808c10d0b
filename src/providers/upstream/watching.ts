/**
 * Changes at an upstream, watched once for all who want to know, in whichever era it speaks: `resources/subscribe` over
 * the shared connection, or one `subscriptions/listen` stream. After a connection is back, everything that is watched is
 * watched again, and reported as changed: it may have been.
 */
import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import type { Context, Log } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ServerList } from '../../core/mounted-server.ts';
import type { Facts } from './facts.ts';
import type { Supervisor } from './supervisor.ts';
import type { Data } from './wire/data.ts';
import type { Link } from './wire/link.ts';

export type WatchedList = ServerList | 'resources';

export interface Watching {
  /** @throws ResourceError `unavailable`, `invalid` for what the upstream does not let be watched */
  resource(uri: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Where the upstream does not tell of changes, nothing is ever called. */
  list(list: WatchedList, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** A notification of the upstream. */
  notified(method: string, params: Data): void;
  /** The shared connection is up: what is watched is watched over it. */
  restore(link: Link): void;
  /** Something may have been missed: everybody is told. */
  missed(): void;
  /** Resources that are watched. */
  readonly size: number;
  /** Whether anything is watched. */
  readonly busy: boolean;
  close(): Promise<void>;
}

export interface WatchingSetup {
  readonly name: string;
  readonly log: Log;
  /** Of the connection that changes are told over. */
  readonly supervisor: Supervisor;
  readonly facts: () => Facts;
  readonly timeoutMs: number;
  /** Told of a change before those who watch are. */
  changed(list: WatchedList | undefined, uri: string | undefined): void;
}

interface Watched {
  readonly listeners: Set<() => void>;
  /** Settles when the upstream tells of it; what comes next for the same URI waits for it. */
  ready: Promise<void>;
}

/** Subscriptions that are restored at the same time. */
const CONCURRENCY = 16;

/** Pause before a listen stream that ended is opened again, in milliseconds. */
const LISTEN_PAUSE_MS = 500;

/** The first and the longest pause before what the upstream refused is asked for again, in milliseconds. */
const AGAIN_MS = 1_000;
const LONGEST_AGAIN_MS = 60_000;

/** Notices that a list has changed become one in so many milliseconds: each of them makes every client list again. */
const LIST_NOTICE_MS = 1_000;

/** How long is waited for a server to be told that something is not watched any more, in milliseconds. */
const END_MS = 1_000;

/** Of a resource that changed: the longest URI that is looked at, in characters, and how many levels up from it. */
const MAX_URI_LENGTH = 65_536;
const MAX_LEVELS = 32;

const longer = (pauseMs: number): number => Math.min(pauseMs * 2, LONGEST_AGAIN_MS);

export function createWatching(setup: WatchingSetup): Watching {
  const { name, log, supervisor, facts, timeoutMs } = setup;
  const resources = new Map<string, Watched>();
  const lists: Readonly<Record<WatchedList, Set<() => void>>> = {
    resources: new Set(),
    tools: new Set(),
    prompts: new Set(),
  };
  /** Lists that were told of a little while ago, and whether they have changed since. */
  const noticed = new Map<WatchedList, boolean>();
  const ending = new Set<Promise<unknown>>();
  const timers = new Set<NodeJS.Timeout>();
  const lifetime = new AbortController();
  let keeping: Disposable | undefined;
  let stream: McpSubscription | undefined;
  let streamOf: Link | undefined;
  /** The connection over which a stream is opened again after a pause. */
  let trying: Link | undefined;
  /** What has not begun yet: whoever wants something else joins it. */
  let waiting: { readonly link: Link; readonly opened: Promise<SubscriptionFilter> } | undefined;
  let opening: { readonly link: Link; readonly settled: Promise<unknown> } | undefined;

  /** As long as somebody watches, the connection is kept up. */
  const busy = (): boolean => resources.size > 0 || Object.values(lists).some((listeners) => listeners.size > 0);

  function keep(): void {
    if (busy()) keeping ??= supervisor.keep();
    else {
      keeping?.[Symbol.dispose]();
      keeping = undefined;
    }
  }

  function filter(): SubscriptionFilter {
    const { tellsResources, tellsTools, tellsPrompts } = facts();
    return {
      ...(lists.resources.size > 0 && tellsResources && { resourcesListChanged: true }),
      ...(lists.tools.size > 0 && tellsTools && { toolsListChanged: true }),
      ...(lists.prompts.size > 0 && tellsPrompts && { promptsListChanged: true }),
      ...(resources.size > 0 && { resourceSubscriptions: [...resources.keys()] }),
    };
  }

  /**
   * One stream for all that is watched; the next one is open before the last one ends. Those of a connection are opened
   * one after the other, or one that is overtaken would stay open with nobody to end it; all that wait become one.
   */
  function listen(link: Link): Promise<SubscriptionFilter> {
    if (waiting?.link === link) return waiting.opened;
    const before = opening?.link === link ? opening.settled : undefined;
    const opened = Promise.resolve(before).then(() => {
      if (waiting?.opened === opened) waiting = undefined;
      return replaceStream(link);
    });
    waiting = { link, opened };
    opening = { link, settled: opened.catch(() => {}) };
    return opened;
  }

  async function replaceStream(link: Link): Promise<SubscriptionFilter> {
    const before = streamOf === link ? stream : undefined;
    const wanted = filter();
    if (Object.keys(wanted).length === 0) {
      if (stream === before) stream = undefined;
      await before?.close();
      return wanted;
    }
    const opened = await link.listen(wanted, lifetime.signal);
    if (opening?.link !== link) {
      // Another connection has taken over meanwhile.
      await opened.close();
      return opened.honoredFilter;
    }
    stream = opened;
    streamOf = link;
    void opened.closed.then((cause) => {
      if (stream !== opened || cause === 'local' || lifetime.signal.aborted) return;
      stream = undefined;
      tryAgain(link, LISTEN_PAUSE_MS, AGAIN_MS);
    });
    await before?.close();
    return opened.honoredFilter;
  }

  /** After a pause, as long as the connection lasts; the next one is taken care of when it is there. */
  function later(link: Link, pauseMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!link.ended && !lifetime.signal.aborted) act();
    }, pauseMs);
    timer.unref();
    timers.add(timer);
  }

  /** Opens the stream again, and tells everybody: something may have been missed. */
  function again(link: Link, pauseMs = AGAIN_MS): void {
    listen(link).then(tellAll, (error: unknown) => {
      log.warn('an upstream does not tell of changes now', { mount: name, error });
      tryAgain(link, pauseMs, longer(pauseMs));
    });
  }

  /** After a pause, once for all who wanted something on the stream. */
  function tryAgain(link: Link, pauseMs: number, nextMs: number): void {
    if (trying === link) return;
    trying = link;
    later(link, pauseMs, () => {
      trying = undefined;
      again(link, nextMs);
    });
  }

  /** Subscribes again to what is still watched; what fails is tried again, and told of when it works. */
  async function resubscribe(uris: readonly string[], link: Link, pauseMs = AGAIN_MS, tells = false): Promise<void> {
    const failed: string[] = [];
    for (let at = 0; at < uris.length; at += CONCURRENCY) {
      await Promise.all(
        uris.slice(at, at + CONCURRENCY).map(async (uri) => {
          if (!resources.has(uri) || link.ended) return;
          try {
            await begin(uri, link);
            if (tells) tell(uri);
          } catch (error) {
            failed.push(uri);
            log.warn('a subscription was not restored', { mount: name, uri, error });
          }
        }),
      );
    }
    if (failed.length > 0) {
      later(link, pauseMs, () => track(resubscribe(failed, link, longer(pauseMs), true)));
    }
  }

  /** Makes the upstream tell of one resource. */
  async function begin(uri: string, link: Link): Promise<void> {
    if (link.era === 'legacy') {
      await link.request('resources/subscribe', { uri }, { timeoutMs, signal: lifetime.signal });
      return;
    }
    const honoured = await listen(link);
    if (honoured.resourceSubscriptions?.includes(uri) !== true && resources.has(uri)) {
      throw invalid('This resource cannot be subscribed to', uri);
    }
  }

  async function end(uri: string): Promise<void> {
    const link = supervisor.current;
    if (link === undefined || link.ended || lifetime.signal.aborted) return;
    const ended = link.era === 'legacy' ? link.request('resources/unsubscribe', { uri }, { timeoutMs }) : listen(link);
    await inTime(ended);
  }

  /** Goes on where it takes long, or where all is ending: what comes late changes nothing. */
  function inTime(work: Promise<unknown>): Promise<unknown> {
    work.catch(() => {});
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer);
        lifetime.signal.removeEventListener('abort', late);
      };
      const late = (): void => {
        stop();
        resolve(undefined);
      };
      const timer = setTimeout(late, END_MS);
      lifetime.signal.addEventListener('abort', late, { once: true });
      work.then(resolve, reject).finally(stop);
    });
  }

  const track = (work: Promise<unknown>): void => {
    const tracked: Promise<unknown> = work.catch(() => {}).finally(() => ending.delete(tracked));
    ending.add(tracked);
  };

  function tellAll(): void {
    for (const list of Object.keys(lists) as WatchedList[]) {
      setup.changed(list, undefined);
      tellList(list);
    }
    for (const uri of resources.keys()) tell(uri);
  }

  function tell(uri: string): void {
    setup.changed(undefined, uri);
    for (const listener of [...(resources.get(uri)?.listeners ?? [])]) listener();
  }

  function tellList(list: WatchedList): void {
    for (const listener of [...lists[list]]) listener();
  }

  /** What is watched and is, or contains, the resource that changed. */
  function watchedBy(uri: string): readonly string[] {
    if (resources.has(uri)) return [uri];
    if (resources.size === 0 || uri.length > MAX_URI_LENGTH) return [];
    const found: string[] = [];
    // Upwards from it: there may be many that are watched, and this is asked with each notice.
    let at = uri.lastIndexOf('/');
    for (let level = 0; at > 0 && level < MAX_LEVELS; level++) {
      for (const above of [uri.slice(0, at), uri.slice(0, at + 1)]) if (resources.has(above)) found.push(above);
      at = uri.lastIndexOf('/', at - 1);
    }
    return found;
  }

  /** What was kept of it is forgotten with each notice; told is at once, and then not before the time is over. */
  function listNoticed(list: WatchedList): void {
    setup.changed(list, undefined);
    if (noticed.has(list)) noticed.set(list, true);
    else tellInTurn(list);
  }

  function tellInTurn(list: WatchedList): void {
    noticed.set(list, false);
    tellList(list);
    const timer = setTimeout(() => {
      timers.delete(timer);
      const again = noticed.get(list) === true;
      noticed.delete(list);
      if (again) tellInTurn(list);
    }, LIST_NOTICE_MS);
    timer.unref();
    timers.add(timer);
  }

  return {
    async resource(uri, onChange, ctx) {
      if (lifetime.signal.aborted) throw new ResourceError('unavailable', 'The server is shutting down');
      const listener = (): void => onChange();
      let watched = resources.get(uri);
      if (watched === undefined) {
        const created: Watched = { listeners: new Set(), ready: Promise.resolve() };
        watched = created;
        resources.set(uri, created);
        keep();
        created.ready = (async () => {
          const link = await supervisor.get(ctx.signal);
          if (!facts().subscribe) throw invalid('This resource cannot be subscribed to', uri);
          // Where the connection ends meanwhile, what is watched is watched over the next one.
          await begin(uri, link).catch(async (error: unknown) => {
            if (!link.ended) throw error;
            await begin(uri, await supervisor.get(ctx.signal));
          });
        })();
        created.ready.catch(() => {});
      }
      watched.listeners.add(listener);
      const mine = watched;
      const dispose = async (): Promise<void> => {
        if (!mine.listeners.delete(listener) || mine.listeners.size > 0) return;
        if (resources.get(uri) === mine) resources.delete(uri);
        keep();
        const ended = mine.ready.then(() => (resources.has(uri) ? undefined : end(uri)));
        track(ended);
        await ended.catch((error: unknown) => log.debug('an upstream was not told of an end', { mount: name, error }));
      };
      try {
        await mine.ready;
      } catch (error) {
        mine.listeners.delete(listener);
        if (resources.get(uri) === mine) resources.delete(uri);
        keep();
        throw error;
      }
      return { [Symbol.asyncDispose]: dispose };
    },

    async list(list, onChange) {
      const listener = (): void => onChange();
      lists[list].add(listener);
      keep();
      const link = supervisor.current;
      // While it is away there is nothing to wait for: when it is back, everybody is told.
      if (link?.era === 'modern') await listen(link).catch(() => tryAgain(link, AGAIN_MS, AGAIN_MS));
      return {
        async [Symbol.asyncDispose]() {
          if (!lists[list].delete(listener)) return;
          keep();
          const now = supervisor.current;
          if (now?.era === 'modern' && !lifetime.signal.aborted) await listen(now).catch(() => {});
        },
      };
    },

    notified(method, params) {
      if (method === 'notifications/resources/updated' && typeof params.uri === 'string') {
        setup.changed(undefined, params.uri);
        for (const uri of watchedBy(params.uri)) tell(uri);
      }
      if (method === 'notifications/resources/list_changed') listNoticed('resources');
      if (method === 'notifications/tools/list_changed') listNoticed('tools');
      if (method === 'notifications/prompts/list_changed') listNoticed('prompts');
    },

    restore(link) {
      track(
        (async () => {
          if (link.era === 'legacy') return resubscribe([...resources.keys()], link);
          if (Object.keys(filter()).length === 0) return;
          await listen(link).catch((error: unknown) => {
            log.warn('an upstream does not tell of changes now', { mount: name, error });
            tryAgain(link, AGAIN_MS, AGAIN_MS);
          });
        })(),
      );
    },

    missed() {
      // After what is under way: the ones that are told look, and must find what they look at.
      const restored = [...ending];
      track(Promise.allSettled(restored).then(tellAll));
    },

    get size() {
      return resources.size;
    },
    get busy() {
      return busy();
    },

    async close() {
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      keeping?.[Symbol.dispose]();
      keeping = undefined;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      resources.clear();
      for (const listeners of Object.values(lists)) listeners.clear();
      // It ends with its connection, too; a server that reads nothing is not waited for.
      stream?.close().catch(() => {});
      await Promise.allSettled([...ending]);
    },
  };
}
