/**
 * Keeps the subscriptions that clients make with the tools, and counts the changes. A tool call is over when it is answered, so
 * a peer's subscriptions are kept here until the peer unsubscribes, its connection ends, or it has been idle for too long.
 */
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';

export interface BookLimits {
  /** URIs of one peer. */
  readonly maxUris: number;
  /** Peers at a time. */
  readonly maxPeers: number;
  /** A peer without a connection that has not called for this many milliseconds is forgotten. */
  readonly idleMs: number;
}

export const DEFAULT_BOOK_LIMITS: BookLimits = { maxUris: 100, maxPeers: 1_000, idleMs: 60 * 60 * 1000 };

/** The subject of a subscription: a URI, or undefined for the list of resources. */
export type Subject = string | undefined;

/** The state of one subscription, as its peer sees it. Times are ISO 8601. */
export interface SubscriptionState {
  readonly since: string;
  /** Changes since then; changes in quick succession count as one. */
  readonly changes: number;
  readonly lastChange?: string;
}

/** Everything that one peer has subscribed to. */
export interface BookPage {
  readonly subscriptions: readonly (SubscriptionState & { readonly uri: string })[];
  /** Absent if the peer has not subscribed to changes of the list. */
  readonly listChanges?: SubscriptionState;
}

/** A connection that can be notified of changes at any time. */
export interface Link {
  add(uri: string, ctx: Context): Promise<void>;
  remove(uri: string): Promise<void>;
}

export interface SubscriptionBook {
  /**
   * Adds a subscription and starts its watch. Returns whether it is new.
   * @throws ResourceError `limited`, or the error of `watch`
   */
  add(subject: Subject, watch: (onChange: () => void) => Promise<AsyncDisposable>, ctx: Context): Promise<boolean>;
  /** Ends a subscription. Returns whether there was one. */
  remove(subject: Subject, ctx: Context): Promise<boolean>;
  /** The caller's subscriptions. */
  of(ctx: Context): BookPage;
  has(subject: Subject, ctx: Context): boolean;
  /** From now on, passes each subscription of a peer to its connection. The returned function ends this and forgets the peer. */
  connect(peer: string, link: Link): () => Promise<void>;
  /** Peers that have subscribed to something. */
  readonly size: number;
  /** Forgets everything. The watches end with the engine. */
  close(): void;
}

interface Entry {
  readonly handle: Promise<AsyncDisposable>;
  readonly since: string;
  changes: number;
  lastChange: string | undefined;
}

interface Peer {
  readonly entries: Map<Subject, Entry>;
  lastSeen: number;
}

export function createSubscriptionBook(
  limits: BookLimits = DEFAULT_BOOK_LIMITS,
  now: () => number = Date.now,
): SubscriptionBook {
  /** The peers in the order in which they were last seen. */
  const peers = new Map<string, Peer>();
  const links = new Map<string, Link>();
  let timer: NodeJS.Timeout | undefined;
  const time = (): string => new Date(now()).toISOString();

  function touch(name: string): Peer | undefined {
    const peer = peers.get(name);
    if (peer === undefined) return undefined;
    peers.delete(name);
    peers.set(name, peer);
    peer.lastSeen = now();
    return peer;
  }

  /** Forgets peers that have been idle for too long. As long as peers are left, this function runs again later. */
  function sweep(): void {
    clearTimeout(timer);
    timer = undefined;
    const before = now() - limits.idleMs;
    for (const [name, peer] of peers) {
      if (peer.lastSeen > before) break;
      if (!links.has(name)) void forget(name);
    }
    if (peers.size > 0) scheduleSweep();
  }

  function scheduleSweep(): void {
    timer ??= setTimeout(sweep, limits.idleMs / 6).unref();
  }

  async function forget(name: string): Promise<void> {
    const peer = peers.get(name);
    peers.delete(name);
    const link = links.get(name);
    await Promise.allSettled([...(peer?.entries ?? [])].map(([subject, entry]) => end(subject, entry, link)));
  }

  async function end(subject: Subject, entry: Entry, link: Link | undefined): Promise<void> {
    const handle = await entry.handle.catch(() => undefined);
    if (handle === undefined) return;
    if (subject !== undefined) await link?.remove(subject);
    await handle[Symbol.asyncDispose]();
  }

  function peerFor(name: string): Peer {
    sweep();
    const existing = touch(name);
    if (existing !== undefined) return existing;
    if (peers.size >= limits.maxPeers) {
      throw new ResourceError('limited', 'Too many clients have subscribed by tools; try again later', {
        details: { limit: limits.maxPeers },
      });
    }
    const peer: Peer = { entries: new Map(), lastSeen: now() };
    peers.set(name, peer);
    scheduleSweep();
    return peer;
  }

  return {
    async add(subject, watch, ctx) {
      const peer = peerFor(ctx.peer);
      const existing = peer.entries.get(subject);
      if (existing !== undefined) {
        await existing.handle;
        return false;
      }
      const uris = peer.entries.size - Number(peer.entries.has(undefined));
      if (subject !== undefined && uris >= limits.maxUris) {
        throw new ResourceError(
          'limited',
          `You have ${limits.maxUris} subscriptions, which is the most; end one first`,
          {
            uri: subject,
            details: { limit: limits.maxUris },
          },
        );
      }
      const onChange = (): void => {
        entry.changes++;
        entry.lastChange = time();
      };
      const link = subject === undefined ? undefined : links.get(ctx.peer);
      const handle = watch(onChange).then(async (opened) => {
        try {
          if (subject !== undefined) await link?.add(subject, ctx);
          return opened;
        } catch (error) {
          await opened[Symbol.asyncDispose]();
          throw error;
        }
      });
      const entry: Entry = { handle, since: time(), changes: 0, lastChange: undefined };
      peer.entries.set(subject, entry);
      try {
        await handle;
      } catch (error) {
        if (peer.entries.get(subject) === entry) peer.entries.delete(subject);
        if (peer.entries.size === 0 && peers.get(ctx.peer) === peer) peers.delete(ctx.peer);
        throw error;
      }
      return true;
    },

    async remove(subject, ctx) {
      const peer = touch(ctx.peer);
      const entry = peer?.entries.get(subject);
      if (peer === undefined || entry === undefined) return false;
      peer.entries.delete(subject);
      if (peer.entries.size === 0) peers.delete(ctx.peer);
      await end(subject, entry, links.get(ctx.peer));
      return true;
    },

    of(ctx) {
      const entries = [...(touch(ctx.peer)?.entries ?? [])];
      const list = entries.find(([subject]) => subject === undefined)?.[1];
      return {
        subscriptions: entries.flatMap(([uri, entry]) => (uri === undefined ? [] : [{ uri, ...stateOf(entry) }])),
        ...(list !== undefined && { listChanges: stateOf(list) }),
      };
    },

    has: (subject, ctx) => peers.get(ctx.peer)?.entries.has(subject) ?? false,

    connect(peer, link) {
      links.set(peer, link);
      return async () => {
        const forgetting = forget(peer);
        if (links.get(peer) === link) links.delete(peer);
        await forgetting;
      };
    },

    get size() {
      return peers.size;
    },

    close() {
      clearTimeout(timer);
      peers.clear();
      links.clear();
    },
  };
}

const stateOf = ({ since, changes, lastChange }: Entry): SubscriptionState => ({
  since,
  changes,
  ...(lastChange !== undefined && { lastChange }),
});
