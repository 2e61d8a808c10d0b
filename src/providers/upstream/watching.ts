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
import type { Data, Link } from './wire/link.ts';

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

const longer = (pauseMs: number): number => Math.min(pauseMs * 2, LONGEST_AGAIN_MS);

export function createWatching(setup: WatchingSetup): Watching {
  const { name, log, supervisor, facts, timeoutMs } = setup;
  const resources = new Map<string, Watched>();
  const lists: Readonly<Record<WatchedList, Set<() => void>>> = {
    resources: new Set(),
    tools: new Set(),
    prompts: new Set(),
  };
  const ending = new Set<Promise<unknown>>();
  const timers = new Set<NodeJS.Timeout>();
  const lifetime = new AbortController();
  let keeping: Disposable | undefined;
  let stream: McpSubscription | undefined;
  let streamOf: Link | undefined;
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
      later(link, LISTEN_PAUSE_MS, () => again(link));
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
      later(link, pauseMs, () => again(link, longer(pauseMs)));
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
    if (link.era === 'legacy') await link.request('resources/unsubscribe', { uri }, { timeoutMs });
    else await listen(link);
  }

  const track = (work: Promise<unknown>): void => {
    const tracked: Promise<unknown> = work.catch(() => {}).finally(() => ending.delete(tracked));
    ending.add(tracked);
  };

  function tellAll(): void {
    for (const list of Object.keys(lists) as WatchedList[]) tellList(list);
    for (const uri of resources.keys()) tell(uri);
  }

  function tell(uri: string): void {
    setup.changed(undefined, uri);
    for (const listener of [...(resources.get(uri)?.listeners ?? [])]) listener();
  }

  function tellList(list: WatchedList): void {
    setup.changed(list, undefined);
    for (const listener of [...lists[list]]) listener();
  }

  /** What is watched and is, or contains, the resource that changed. */
  function watchedBy(uri: string): readonly string[] {
    if (resources.has(uri)) return [uri];
    return [...resources.keys()].filter((each) => uri.startsWith(each.endsWith('/') ? each : `${each}/`));
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
      if (link?.era === 'modern') await listen(link).catch(() => later(link, AGAIN_MS, () => again(link)));
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
      if (method === 'notifications/resources/list_changed') tellList('resources');
      if (method === 'notifications/tools/list_changed') tellList('tools');
      if (method === 'notifications/prompts/list_changed') tellList('prompts');
    },

    restore(link) {
      track(
        (async () => {
          if (link.era === 'legacy') return resubscribe([...resources.keys()], link);
          if (Object.keys(filter()).length === 0) return;
          await listen(link).catch((error: unknown) => {
            log.warn('an upstream does not tell of changes now', { mount: name, error });
            later(link, AGAIN_MS, () => again(link));
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
      await Promise.allSettled([...ending, stream?.close()]);
    },
  };
}
