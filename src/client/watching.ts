/** Changes of resources for those who watch, one by one. Who may have missed some is told so. */

import { createListening } from '../connection/listening.ts';
import { abortable, onAbort } from '../core/waiting/abortable.ts';
import type { Connection } from './connection.ts';
import { closedError, ResourceClientError } from './errors.ts';
import { createEventQueue, type EventQueue, type Watch, type WatchEvent } from './events.ts';
import type { Data, Link } from './link.ts';

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

/** The most watches at a time. Each costs the server something. */
const MAX_WATCHES = 10_000;

/** @param mayHaveMissed is told what is watched, before those who watch are told that changes may be lost */
export function createWatching(
  connection: Connection,
  timeoutMs: number,
  mayHaveMissed: (uris: readonly string[]) => void,
): Watching {
  // Those that the server tells of changes already: others have nothing to miss.
  const live = new Set<EventQueue>();
  let watches = 0;
  let closed = false;
  const listening = createListening<Link, EventQueue>({
    connection,
    timeoutMs,
    tells: (list, { facts }) => list === 'resources' && facts.listChanged,
    subscribes: ({ facts }) => facts.subscribe,
    refusal: (uri) =>
      new ResourceClientError('unsupported', 'The server does not tell of changes of this resource', { uri }),
    reopened: () => missed('stream-interrupted'),
    restored: (uri) => tell(listening.of(uri), { kind: 'missed', reason: 'reconnected' }),
  });

  const all = (): readonly EventQueue[] => [
    ...listening.ofList('resources'),
    ...listening.uris.flatMap((uri) => listening.of(uri)),
  ];

  function tell(queues: readonly EventQueue[], event: WatchEvent): void {
    for (const queue of queues) if (event.kind !== 'missed' || live.has(queue)) queue.push(event);
  }

  function missed(reason: 'reconnected' | 'stream-interrupted'): void {
    mayHaveMissed(listening.uris);
    tell(all(), { kind: 'missed', reason });
  }

  async function watchList(queue: EventQueue): Promise<void> {
    listening.addTo('resources', queue);
    const link = await connection.get();
    if (!link.facts.listChanged) {
      throw new ResourceClientError('unsupported', 'The server does not tell when its list changes');
    }
    if (link.era === 'modern') await listening.listen(link);
  }

  return {
    watch(uri, signal) {
      signal?.throwIfAborted();
      if (closed) throw closedError();
      if (watches >= MAX_WATCHES) throw new ResourceClientError('limited', `There are ${MAX_WATCHES} watches already`);
      let closing: Promise<void> | undefined;
      const close = (): Promise<void> => (closing ??= leave());
      const queue = createEventQueue(close);
      const abort = (): void => {
        queue.fail(signal?.reason);
        close().catch(() => {});
      };
      async function leave(): Promise<void> {
        stop?.();
        queue.end();
        live.delete(queue);
        watches--;
        await (uri === undefined ? listening.removeFrom('resources', queue) : listening.remove(uri, queue));
      }
      watches++;
      const stop = signal === undefined ? undefined : onAbort(signal, abort);
      const begun = uri === undefined ? watchList(queue) : listening.add(uri, queue);
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
        const { uri } = params;
        for (const each of listening.watchedBy(uri)) tell(listening.of(each), { kind: 'updated', uri });
      }
      if (method === 'notifications/resources/list_changed') {
        tell(listening.ofList('resources'), { kind: 'list-changed' });
      }
    },

    missed: () => missed('stream-interrupted'),

    up(link, again) {
      if (!again || watches === 0) return;
      listening.restore(link).then(
        () => missed('reconnected'),
        () => {},
      );
    },

    down(final) {
      const gone = new ResourceClientError('unavailable', 'The connection is lost');
      if (final) for (const queue of all()) queue.fail(gone);
    },

    async close() {
      if (closed) return;
      closed = true;
      for (const queue of all()) queue.end();
      await listening.close(closedError());
    },
  };
}
