/** Gives each watch the changes of its resource or list. A watch that may have missed changes gets the event `missed`. */

import { createListening } from '../connection/listening.ts';
import { abortable, onAbort } from '../core/waiting/abortable.ts';
import type { Connection } from './connection.ts';
import { closedError, ResourceClientError } from './errors.ts';
import { createEventQueue, type EventQueue, type Watch, type WatchEvent } from './events.ts';
import type { Data, Link } from './link.ts';

export interface Watching {
  /** Begins a watch. @param uri the URI of a resource; undefined for the list of all resources. @throws ResourceClientError */
  watch(uri: string | undefined, signal: AbortSignal | undefined): Watch;
  /** Passes a notification of the server to the watches that it concerns. */
  notified(method: string, params: Data): void;
  /** The stream of notifications is open again after an interruption, in which notifications may have been lost. */
  missed(): void;
  /** The connection is open. @param again whether it was lost before */
  up(link: Link, again: boolean): void;
  /** The connection is lost. @param final whether for good */
  down(final: boolean): void;
  close(): Promise<void>;
}

/** The most watches at a time. */
const MAX_WATCHES = 10_000;

/** @param mayHaveMissed is called with all watched URIs, before all watches get the event `missed` */
export function createWatching(
  connection: Connection,
  timeoutMs: number,
  mayHaveMissed: (uris: readonly string[]) => void,
): Watching {
  // Watches for which the server reports changes. Only these can miss any.
  const live = new Set<EventQueue>();
  // All open watches.
  const open = new Map<EventQueue, { close(): Promise<void>; readonly stop: (() => void) | undefined }>();
  let closed = false;
  const listening = createListening<Link, EventQueue>({
    connection,
    timeoutMs,
    tells: (list, { facts }) => list === 'resources' && facts.listChanged,
    subscribes: ({ facts }) => facts.subscribe,
    refusal: (uri) =>
      new ResourceClientError('unsupported', 'The server does not tell of changes of this resource', { uri }),
    reopened: () => missed('stream-interrupted'),
    restored: (uri) => missed('reconnected', [uri], listening.of(uri)),
  });

  const all = (): readonly EventQueue[] => [
    ...listening.ofList('resources'),
    ...listening.uris.flatMap((uri) => listening.of(uri)),
  ];

  function send(queues: readonly EventQueue[], event: WatchEvent): void {
    for (const queue of queues) if (event.kind !== 'missed' || live.has(queue)) queue.push(event);
  }

  /** Reports to `queues` that changes of `uris` may be lost. Default: everything that is watched. */
  function missed(
    reason: 'reconnected' | 'stream-interrupted',
    uris: readonly string[] = listening.uris,
    queues: readonly EventQueue[] = all(),
  ): void {
    mayHaveMissed(uris);
    send(queues, { kind: 'missed', reason });
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
      if (open.size >= MAX_WATCHES)
        throw new ResourceClientError('limited', `There are ${MAX_WATCHES} watches already`);
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
        open.delete(queue);
        await (uri === undefined ? listening.removeFrom('resources', queue) : listening.remove(uri, queue));
      }
      const stop = signal === undefined ? undefined : onAbort(signal, abort);
      open.set(queue, { close, stop });
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
        for (const watched of listening.watchedBy(uri)) send(listening.of(watched), { kind: 'updated', uri });
      }
      if (method === 'notifications/resources/list_changed') {
        send(listening.ofList('resources'), { kind: 'list-changed' });
      }
    },

    missed: () => missed('stream-interrupted'),

    up(link, again) {
      if (!again || open.size === 0) return;
      listening.restore(link).then(
        () => missed('reconnected'),
        () => {},
      );
    },

    down(final) {
      if (!final) return;
      const gone = new ResourceClientError('unavailable', 'The connection is lost');
      for (const [queue, { close }] of open) {
        queue.fail(gone);
        // A failed watch must not be restored over a later connection.
        close().catch(() => {});
      }
    },

    async close() {
      if (closed) return;
      closed = true;
      for (const [queue, { stop }] of open) {
        stop?.();
        queue.end();
      }
      await listening.close(closedError());
    },
  };
}
