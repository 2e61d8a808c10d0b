/**
 * Keeps the stream of notifications of a connection in the 2026 era: one stream for all that is watched. When it ends, it is
 * opened again after a pause, which grows with each failure.
 */
import type { McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import { REFUSED } from './pauses.ts';

/** A connection, as far as the stream needs it. */
export interface StreamSource {
  readonly ended: boolean;
  /** Opens a stream of notifications. */
  listen(filter: SubscriptionFilter, options: StreamLimits): Promise<McpSubscription>;
}

interface StreamLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ListenStreamSetup<Link> {
  /** The limits of each opening. The signal is aborted when watching has ended for good. */
  readonly limits: StreamLimits;
  /** Returns the filter for what is watched now. */
  filter(link: Link): SubscriptionFilter;
  /** Does something after a pause, as long as the connection lasts. */
  later(link: Link, pauseMs: number, act: () => void): void;
  /** The stream was interrupted and is open again: notifications that the server sent meanwhile are lost. */
  reopened(): void;
  /** The stream could not be opened again. There will be another attempt. */
  failed(error: unknown): void;
}

export interface ListenStream<Link> {
  /**
   * Opens a stream for what is watched now, unless the server has granted all of that to the open one. The new stream is open
   * before the old one ends. Calls that wait for an earlier opening share the next one.
   * @returns the filter that the server has granted
   * @throws the error with which the server refuses the stream
   */
  open(link: Link): Promise<SubscriptionFilter>;
  /** Opens the stream after a pause, and tries again until that works. */
  openLater(link: Link): void;
  /** Closes the stream without waiting for the server. A stream that is not closed ends with its connection. */
  close(): void;
}

/** Pause before a stream that ended is opened again, in milliseconds. */
const ENDED_PAUSE_MS = 500;

export function createListenStream<Link extends StreamSource>({
  limits,
  filter,
  later,
  reopened,
  failed,
}: ListenStreamSetup<Link>): ListenStream<Link> {
  let stream: McpSubscription | undefined;
  let streamOf: Link | undefined;
  /** The filter of the open stream, in JSON. */
  let openFor = '';
  /** The connection over which the stream is to be opened again after a pause. */
  let trying: Link | undefined;
  /** The opening that has not begun yet. Further calls share it, since it takes the filter only when it begins. */
  let waiting: { readonly link: Link; readonly opened: Promise<SubscriptionFilter> } | undefined;
  let opening: { readonly link: Link; readonly settled: Promise<unknown> } | undefined;

  /** Streams of a connection are opened one after the other: of two at the same time, one would stay open with nobody to end it. */
  function open(link: Link): Promise<SubscriptionFilter> {
    if (waiting?.link === link) return waiting.opened;
    const before = opening?.link === link ? opening.settled : undefined;
    const opened = Promise.resolve(before).then(() => {
      if (waiting?.opened === opened) waiting = undefined;
      return replace(link);
    });
    waiting = { link, opened };
    opening = { link, settled: opened.catch(() => {}) };
    return opened;
  }

  async function replace(link: Link): Promise<SubscriptionFilter> {
    const before = streamOf === link ? stream : undefined;
    const wanted = filter(link);
    if (isEmpty(wanted)) {
      if (stream === before) stream = undefined;
      await before?.close();
      return wanted;
    }
    const wantedFor = JSON.stringify(wanted);
    // The server may grant now what it refused before.
    if (before !== undefined && openFor === wantedFor && grants(before.honoredFilter, wanted))
      return before.honoredFilter;
    const opened = await link.listen(wanted, limits);
    if (opening?.link !== link) {
      // Another connection has taken over meanwhile.
      await opened.close();
      return opened.honoredFilter;
    }
    stream = opened;
    streamOf = link;
    openFor = wantedFor;
    void opened.closed.then((cause) => {
      if (stream !== opened || cause === 'local' || limits.signal.aborted) return;
      stream = undefined;
      tryAgain(link, ENDED_PAUSE_MS, REFUSED.firstMs);
    });
    await before?.close();
    return opened.honoredFilter;
  }

  /** Opens the stream after a pause. Only one attempt is planned at a time. */
  function tryAgain(link: Link, pauseMs: number, nextMs: number): void {
    if (trying === link) return;
    trying = link;
    later(link, pauseMs, () => {
      trying = undefined;
      if (isEmpty(filter(link))) return;
      open(link).then(reopened, (error: unknown) => {
        failed(error);
        tryAgain(link, nextMs, REFUSED.longer(nextMs));
      });
    });
  }

  return {
    open,
    openLater: (link) => tryAgain(link, REFUSED.firstMs, REFUSED.firstMs),
    close: () => void stream?.close().catch(() => {}),
  };
}

const isEmpty = (filter: SubscriptionFilter): boolean => Object.keys(filter).length === 0;

const grants = (honored: SubscriptionFilter, wanted: SubscriptionFilter): boolean =>
  (wanted.resourceSubscriptions ?? []).every((uri) => honored.resourceSubscriptions?.includes(uri) === true) &&
  (['resourcesListChanged', 'toolsListChanged', 'promptsListChanged'] as const).every(
    (list) => wanted[list] !== true || honored[list] === true,
  );
