/**
 * Changes of resources, told in the way of either era: `resources/subscribe`, or one `subscriptions/listen` stream for all
 * that is watched. After the connection was lost all of it is watched again, and everybody is told that changes may be lost.
 */
import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import { abortable, type Connection } from './connection.ts';
import { closedError, ResourceClientError } from './errors.ts';
import { createEventQueue, type EventQueue, type Watch, type WatchEvent } from './events.ts';
import type { Data, Link } from './link.ts';
import { identityOf, insideOf } from './shapes.ts';

export interface Watching {
  /** @param uri of a resource; undefined for the list of all */
  watch(uri: string | undefined, signal: AbortSignal | undefined): Watch;
  notified(method: string, params: Data): void;
  /** Notifications may have been lost, and come again now. */
  missed(): void;
  up(link: Link, again: boolean): void;
  /** The connection is lost. @param final whether for good */
  down(final: boolean): void;
  close(): Promise<void>;
}

interface Watched {
  readonly queues: Set<EventQueue>;
  /** Settles when the server tells of it. */
  ready: Promise<void>;
}

/** Subscriptions that are restored at the same time. */
const CONCURRENCY = 8;

/** The first and the longest pause before what the server refused or ended is asked for again, in milliseconds. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** Watches at a time. Each costs the server something. */
const MAX_WATCHES = 10_000;

/** @param mayHaveMissed is told what is watched, before those who watch are told that changes may be lost */
export function createWatching(
  connection: Connection,
  timeoutMs: number,
  mayHaveMissed: (uris: readonly string[]) => void,
): Watching {
  const resources = new Map<string, Watched>();
  const lists = new Set<EventQueue>();
  // Those that the server tells of changes already: others have nothing to miss.
  const live = new Set<EventQueue>();
  const lifetime = new AbortController();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  let watches = 0;
  let keeping: Disposable | undefined;
  let stream: McpSubscription | undefined;
  let streamOf: Link | undefined;
  let relisten: Promise<SubscriptionFilter> | undefined;
  const limits = { timeoutMs, signal: lifetime.signal };

  function keep(): void {
    if (watches > 0) keeping ??= connection.keep();
    else {
      keeping?.[Symbol.dispose]();
      keeping = undefined;
    }
  }

  const filter = ({ facts }: Link): SubscriptionFilter => ({
    ...(lists.size > 0 && facts.listChanged && { resourcesListChanged: true }),
    ...(resources.size > 0 && { resourceSubscriptions: [...resources.keys()] }),
  });

  /** One stream for all that is watched; the next one is open before the last one ends. Changes at a time go together. */
  function listen(link: Link): Promise<SubscriptionFilter> {
    relisten ??= (async () => {
      await Promise.resolve();
      relisten = undefined;
      const before = streamOf === link ? stream : undefined;
      const wanted = filter(link);
      if (Object.keys(wanted).length === 0) {
        stream = undefined;
        await before?.close();
        return wanted;
      }
      const opened = await link.listen(wanted, limits);
      stream = opened;
      streamOf = link;
      void opened.closed.then((cause) => {
        if (stream !== opened || cause === 'local') return;
        stream = undefined;
        later(link, PAUSE_MS, restream);
      });
      await before?.close();
      return opened.honoredFilter;
    })();
    return relisten;
  }

  /** After a pause, as long as the connection lasts and somebody watches; the next connection is seen to when it is there. */
  function later(link: Link, pauseMs: number, act: (link: Link, pauseMs: number) => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (!link.ended && watches > 0 && !lifetime.signal.aborted) act(link, pauseMs);
    }, pauseMs);
    timers.add(timer);
  }

  function restream(link: Link, pauseMs: number): void {
    listen(link).then(
      () => missed('stream-interrupted'),
      () => later(link, Math.min(pauseMs * 2, LONGEST_PAUSE_MS), restream),
    );
  }

  /** Makes the server tell of one resource. */
  async function begin(uri: string, link: Link): Promise<void> {
    if (link.facts.era === 'legacy') {
      if (!link.facts.subscribe) throw notWatchable(uri);
      await link.request('resources/subscribe', { uri }, limits);
      return;
    }
    const honoured = await listen(link);
    if (honoured.resourceSubscriptions?.includes(uri) !== true && resources.has(uri)) throw notWatchable(uri);
  }

  async function end(uri: string): Promise<void> {
    const link = connection.current;
    if (link === undefined || link.ended || lifetime.signal.aborted) return;
    if (link.facts.era === 'legacy') await link.request('resources/unsubscribe', { uri }, limits);
    else await listen(link);
  }

  /** Watches everything over a new connection. */
  async function restore(link: Link): Promise<void> {
    if (link.facts.era === 'modern') {
      await listen(link).catch(() => later(link, PAUSE_MS, restream));
    } else await resubscribe([...resources.keys()], link, PAUSE_MS);
    missed('reconnected');
  }

  async function resubscribe(uris: readonly string[], link: Link, pauseMs: number): Promise<void> {
    const failed: string[] = [];
    for (let at = 0; at < uris.length; at += CONCURRENCY) {
      const some = uris.slice(at, at + CONCURRENCY).filter((uri) => resources.has(uri) && !link.ended);
      await Promise.all(some.map((uri) => begin(uri, link).catch(() => failed.push(uri))));
    }
    if (failed.length === 0) return;
    later(link, pauseMs, () => {
      resubscribe(failed, link, Math.min(pauseMs * 2, LONGEST_PAUSE_MS)).then(() => {
        for (const uri of failed) tell(uri, { kind: 'missed', reason: 'reconnected' });
      });
    });
  }

  function tell(uri: string, event: WatchEvent): void {
    for (const queue of resources.get(uri)?.queues ?? []) {
      if (event.kind !== 'missed' || live.has(queue)) queue.push(event);
    }
  }

  function missed(reason: 'reconnected' | 'stream-interrupted'): void {
    mayHaveMissed([...resources.keys()]);
    tellAll({ kind: 'missed', reason });
  }

  function tellAll(event: WatchEvent): void {
    for (const queue of lists) if (live.has(queue)) queue.push(event);
    for (const uri of resources.keys()) tell(uri, event);
  }

  /** What is watched and is, or contains, the resource that changed. */
  function watchedBy(uri: string): readonly string[] {
    const changed = identityOf(uri);
    return [...resources.keys()].filter((each) => {
      const watched = identityOf(each);
      return watched === changed || changed.startsWith(insideOf(watched)) || changed.startsWith(`${watched}#`);
    });
  }

  async function beginFirst(uri: string): Promise<void> {
    const link = await connection.get(lifetime.signal);
    // Where the connection ends meanwhile, what is watched is watched over the next one.
    await begin(uri, link).catch(async (error: unknown) => {
      if (!link.ended) throw error;
      await begin(uri, await connection.get(lifetime.signal));
    });
  }

  function watchResource(uri: string, queue: EventQueue): Promise<void> {
    const known = resources.get(uri);
    if (known !== undefined) {
      known.queues.add(queue);
      return known.ready;
    }
    const made: Watched = { queues: new Set([queue]), ready: Promise.resolve() };
    resources.set(uri, made);
    made.ready = beginFirst(uri).catch((error: unknown) => {
      if (resources.get(uri) === made) resources.delete(uri);
      throw error;
    });
    return made.ready;
  }

  async function watchList(queue: EventQueue): Promise<void> {
    lists.add(queue);
    const link = await connection.get(lifetime.signal);
    if (!link.facts.listChanged) {
      throw new ResourceClientError('unsupported', 'The server does not tell when its list changes');
    }
    if (link.facts.era === 'modern') await listen(link);
  }

  async function unwatch(uri: string | undefined, queue: EventQueue): Promise<void> {
    if (uri === undefined) {
      if (!lists.delete(queue)) return;
      const link = connection.current;
      if (link?.facts.era === 'modern' && !link.ended && !lifetime.signal.aborted) await listen(link);
      return;
    }
    const watched = resources.get(uri);
    if (watched === undefined || !watched.queues.delete(queue) || watched.queues.size > 0) return;
    resources.delete(uri);
    await watched.ready.catch(() => {});
    if (!resources.has(uri)) await end(uri);
  }

  return {
    watch(uri, signal) {
      signal?.throwIfAborted();
      if (lifetime.signal.aborted) throw closedError();
      if (watches >= MAX_WATCHES) throw new ResourceClientError('limited', `There are ${MAX_WATCHES} watches already`);
      let closing: Promise<void> | undefined;
      const close = (): Promise<void> => (closing ??= leave());
      const queue = createEventQueue(close);
      const abort = (): void => {
        queue.fail(signal?.reason);
        close().catch(() => {});
      };
      async function leave(): Promise<void> {
        signal?.removeEventListener('abort', abort);
        queue.end();
        live.delete(queue);
        watches--;
        keep();
        // A server that does not take back what it was asked for is left to its own.
        await unwatch(uri, queue).catch(() => {});
      }
      watches++;
      keep();
      signal?.addEventListener('abort', abort, { once: true });
      const begun = uri === undefined ? watchList(queue) : watchResource(uri, queue);
      const ready = signal === undefined ? begun : abortable(begun, signal);
      ready.then(
        () => {
          if (closing === undefined) live.add(queue);
        },
        (error: unknown) => {
          queue.fail(error);
          return close();
        },
      );
      return { ready, close, [Symbol.asyncIterator]: () => queue.events, [Symbol.asyncDispose]: close };
    },

    notified(method, params) {
      if (method === 'notifications/resources/updated' && typeof params.uri === 'string') {
        for (const uri of watchedBy(params.uri)) tell(uri, { kind: 'updated', uri: params.uri });
      }
      if (method === 'notifications/resources/list_changed') {
        for (const queue of lists) queue.push({ kind: 'list-changed' });
      }
    },

    missed: () => missed('stream-interrupted'),

    up(link, again) {
      if (again && watches > 0) void restore(link).catch(() => {});
    },

    down(final) {
      stream = undefined;
      if (!final) return;
      const gone = new ResourceClientError('unavailable', 'The connection is lost');
      for (const queue of [...lists, ...[...resources.values()].flatMap((each) => [...each.queues])]) queue.fail(gone);
    },

    async close() {
      if (lifetime.signal.aborted) return;
      lifetime.abort(closedError());
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      keeping?.[Symbol.dispose]();
      keeping = undefined;
      for (const queue of [...lists, ...[...resources.values()].flatMap((each) => [...each.queues])]) queue.end();
      lists.clear();
      resources.clear();
      await stream?.close().catch(() => {});
    },
  };
}

const notWatchable = (uri: string): ResourceClientError =>
  new ResourceClientError('unsupported', 'The server does not tell of changes of this resource', { uri });
