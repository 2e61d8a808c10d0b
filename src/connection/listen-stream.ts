/**
 * The stream of notifications of a connection of 2026: one for all that is watched. Where it ends it is opened again, after a
 * pause that grows.
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
  /** Aborted when nothing is watched any more, for good. */
  readonly limits: StreamLimits;
  /** Returns the filter for what is watched now. */
  filter(link: Link): SubscriptionFilter;
  /** Does something after a pause, as long as the connection lasts. */
  later(link: Link, pauseMs: number, act: () => void): void;
  /** It was interrupted, and is back: what came meanwhile is lost. */
  reopened(): void;
  /** It could not be opened again, which is tried again. */
  failed(error: unknown): void;
}

export interface ListenStream<Link> {
  /**
   * Opens it anew, for what is watched now, unless it is open for that; the next one is open before the last one ends. All
   * who wait become one.
   * @throws what the server refuses it with
   */
  open(link: Link): Promise<SubscriptionFilter>;
  /** Does that again after a pause, until it works. */
  openLater(link: Link): void;
  /** It ends with its connection, too; a server that reads nothing is not waited for. */
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
  /** The filter that it is open for, in JSON. */
  let openFor = '';
  /** The connection over which it is opened again after a pause. */
  let trying: Link | undefined;
  /** The opening that has not begun yet: whoever wants something else joins it. */
  let waiting: { readonly link: Link; readonly opened: Promise<SubscriptionFilter> } | undefined;
  let opening: { readonly link: Link; readonly settled: Promise<unknown> } | undefined;

  /** Those of a connection are opened one after the other, or one that is overtaken would stay open with nobody to end it. */
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

  /** After a pause, once for all who wanted something on the stream. */
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
