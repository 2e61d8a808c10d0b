/** Sessions of 2025 that replicas share: their common state and messages (`docs/decisions/0056-replicas.md`). */
import { LRUCache } from 'lru-cache';
import type { Bus } from '../../core/bus.ts';
import type { Principal } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { LoggingLevel } from '../../core/invocation.ts';
import type { Keys } from '../../core/keys.ts';
import type { Message } from '../messages.ts';
import type { SharedPart, SharedPartEvents } from '../peer/shared-part.ts';
import { MAX_SUBSCRIPTIONS } from '../subscriptions.ts';
import { createSessionIds, type SessionClaims } from './ids.ts';

/** How long an unused session without a listening client is kept, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** How often the use of a session is recorded, in milliseconds. */
const NOTE_MS = 60 * 60 * 1000;

/** The most ended sessions that this replica remembers, in case the shared memory loses them. */
const MAX_ENDED = 10_000;

const TOPIC = 'session';
const ENDED = 'ended';
const USED = 'used';
const LEVEL = 'level';
const URI = 'uri ';

type Word =
  | { readonly session: string; readonly kind: 'said' | 'tell'; readonly message: object }
  | { readonly session: string; readonly kind: 'subscribed' | 'unsubscribed'; readonly uri: string }
  | { readonly session: string; readonly kind: 'level'; readonly level: LoggingLevel }
  | { readonly session: string; readonly kind: 'ended' };

/** A session in this replica. */
export interface SharedSession extends SharedPart {
  join(events: SharedSessionEvents): void;
  /** The id as the client has it. */
  readonly sealed: string;
  /** Whether it can be restored from its id and the shared memory at any time. */
  readonly rebuilt: boolean;
  /** Records that the session is used. */
  used(): void;
  /** Records that the client has ended it, so that no replica continues it. */
  end(): Promise<void>;
  /** Records that this replica has dropped it. */
  leave(): void;
}

/** Callbacks for news of a session from other replicas. */
export interface SharedSessionEvents extends SharedPartEvents {
  /** The client has sent a message to another replica, which cannot handle the message. */
  said(message: Message): void;
  /** Sends a message to the client, if its stream is here. */
  tell(message: object): void;
  ended(): void;
}

/** The most concurrent commands to the memory of the bus when sessions are restored. */
const AT_ONCE = 500;

export interface SharedSessions {
  begin(principal: Principal, revision: string, capabilities: SessionClaims['capabilities']): SharedSession;
  /** Opens an id; undefined for an invalid one. Whether the session has ended is not checked yet. */
  open(id: string): SessionClaims | undefined;
  /** Takes a session over from another replica; undefined if it has ended, or is old and no longer kept. */
  takeOver(claims: SessionClaims, sealed: string): Promise<SharedSession | undefined>;
  close(): void;
}

export function createSharedSessions(bus: Bus, keys: Keys, now: () => number = Date.now): SharedSessions {
  const ids = createSessionIds(keys);
  const here = new Map<string, SharedSessionEvents>();
  const ended = new LRUCache<string, true>({ max: MAX_ENDED, ttl: KEPT_MS });
  const { memory } = bus;
  const keyOf = (id: string): string => `session:${id}`;
  const noteEnded = (id: string): Promise<void> => memory.replace(keyOf(id), ENDED, '', KEPT_MS);
  /** Sessions are restored one after the other, since the bus accepts a limited number of commands at a time. */
  let mending = Promise.resolve();

  const forget = [
    bus.listen(TOPIC, (data) => {
      const word = data as Word;
      const session = here.get(word.session);
      switch (word.kind) {
        case 'said':
          return session?.said(word.message as Message);
        case 'tell':
          return session?.tell(word.message);
        case 'subscribed':
          return session?.subscribed(word.uri);
        case 'unsubscribed':
          return session?.unsubscribed(word.uri);
        case 'level':
          return session?.levelSet(word.level);
        case 'ended':
          ended.set(word.session, true);
          return session?.ended();
      }
    }),
    bus.onMended(() => {
      const over = [...ended.keys()];
      mending = mending.then(() => inParts(over, noteEnded));
      for (const [id, session] of here) {
        session.mended();
        mending = mending
          .then(() => load(id))
          .then(({ isOver }) => isOver && session.ended())
          .then(ignore, ignore);
      }
    }),
  ];

  async function load(id: string) {
    const fields = await memory.all(keyOf(id));
    return {
      isOver: fields.has(ENDED) || ended.has(id),
      isKept: fields.size > 0,
      level: fields.get(LEVEL) as LoggingLevel | undefined,
      uris: [...fields.keys()].filter((field) => field.startsWith(URI)).map((field) => field.slice(URI.length)),
    };
  }

  function join(claims: SessionClaims, sealed: string, level: LoggingLevel | undefined): SharedSession {
    const { id } = claims;
    const noted = new Set<string>();
    let noteUse = claims.begun + NOTE_MS;
    const say = (word: Word): void => bus.publish(TOPIC, word);
    let logLevel = level;
    return {
      id,
      sealed,
      claims,
      get level() {
        return logLevel;
      },
      get rebuilt() {
        return noted.size === 0;
      },
      join(whole) {
        here.set(id, {
          ...whole,
          levelSet(each) {
            logLevel = each;
          },
          subscribed(uri) {
            // When the memory loses the subscription, the replica that recorded it may be gone, so this one notes it, too.
            noted.add(uri);
            whole.subscribed(uri);
          },
          unsubscribed(uri) {
            noted.delete(uri);
            whole.unsubscribed(uri);
          },
          mended() {
            // The subscriptions are written before they are read again, since the memory may have lost them.
            const put = (uri: string): Promise<unknown> => memory.put(keyOf(id), `${URI}${uri}`, '', KEPT_MS);
            mending = mending.then(() => inParts([...noted], put)).then(() => whole.mended());
          },
        });
      },
      said: (message) => say({ session: id, kind: 'said', message }),
      tell: (message) => say({ session: id, kind: 'tell', message }),
      async subscriptions() {
        const { uris } = await load(id);
        for (const uri of uris) noted.add(uri);
        return uris;
      },
      async subscribe(uri) {
        const count = await memory.put(keyOf(id), `${URI}${uri}`, '', KEPT_MS);
        // A session has at most two other fields.
        if (count > MAX_SUBSCRIPTIONS + 2) {
          await memory.remove(keyOf(id), `${URI}${uri}`);
          throw new ResourceError(
            'limited',
            `A session has at most ${MAX_SUBSCRIPTIONS} subscriptions; end one first`,
            {
              uri,
              details: { limit: MAX_SUBSCRIPTIONS },
            },
          );
        }
        noted.add(uri);
        say({ session: id, kind: 'subscribed', uri });
      },
      async unsubscribe(uri) {
        await memory.remove(keyOf(id), `${URI}${uri}`);
        noted.delete(uri);
        say({ session: id, kind: 'unsubscribed', uri });
      },
      async setLevel(each) {
        logLevel = each;
        await memory.put(keyOf(id), LEVEL, each, KEPT_MS);
        say({ session: id, kind: 'level', level: each });
      },
      used() {
        if (now() < noteUse) return;
        noteUse = now() + NOTE_MS;
        memory.put(keyOf(id), USED, '', KEPT_MS).catch(ignore);
      },
      async end() {
        ended.set(id, true);
        say({ session: id, kind: 'ended' });
        await noteEnded(id).catch(ignore);
      },
      leave: () => void here.delete(id),
    };
  }

  return {
    begin({ id, clientId = '' }, revision, capabilities) {
      const owner = { id, clientId };
      const claims = { id: crypto.randomUUID(), owner, revision, capabilities, begun: now() };
      return join(claims, ids.seal(claims), undefined);
    },
    open: ids.open,
    async takeOver(claims, sealed) {
      if (ended.has(claims.id)) return undefined;
      // Without the bus, reads continue; the session's state is read again when the bus is back.
      const kept = await load(claims.id).catch(() => undefined);
      if (kept?.isOver === true) return undefined;
      if (kept?.isKept === false && now() - claims.begun > KEPT_MS) return undefined;
      return join(claims, sealed, kept?.level);
    },
    close() {
      for (const each of forget) each();
      here.clear();
    },
  };
}

const ignore = (): void => {};

/** Runs a function for each item, a limited number at a time, and ignores failures. */
async function inParts(all: readonly string[], each: (one: string) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) {
    await Promise.all(all.slice(at, at + AT_ONCE).map((one) => each(one).catch(ignore)));
  }
}
