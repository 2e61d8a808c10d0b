/**
 * The 2025-era side of HTTP: a session for each client that shook hands, so that it can be told of updates. Sessions
 * are bounded in number and end when they are not used.
 */
import type { Log, Principal } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import { Expiry } from '../auth/expiry.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { EventStreams } from '../http/events.ts';
import { type HttpAnswer, refusal } from '../http/exchange.ts';
import { idOf, tooMany } from '../http/floods.ts';
import type { Asked } from '../http/modern.ts';
import { Peer } from '../peer/peer.ts';
import type { ResumptionOptions } from './resumption.ts';
import { revisionProblem, Session } from './session.ts';

export interface SessionLimits {
  /** Sessions at the same time. */
  readonly maxSessions: number;
  /** A session without requests and without an open stream ends after this many milliseconds. */
  readonly idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { maxSessions: 1_000, idleMs: 30 * 60 * 1000 };

/** How long a session must have been unused before a new one may take its place, in milliseconds. */
const EVICT_AFTER_MS = 60_000;

interface Kept {
  /** Who began it; it answers to nobody else. */
  readonly owner: Principal;
  readonly session: Session;
  /** The expiry of the client's token that is good for longest. */
  readonly expiry: Expiry;
  lastUsed: number;
  /** Ends it, once. */
  /** @param goodbye whether requests that are under way are answered that the server ends */
  readonly end: (goodbye?: boolean) => Promise<void>;
}

/** Two applications of one person may do different things for that person. */
const isOf = ({ owner }: Kept, { id, clientId = '' }: Principal): boolean =>
  owner.id === id && (owner.clientId ?? '') === clientId;

export interface Sessions {
  /** @param body of a POST, as it was parsed */
  handle(asked: Asked, body: unknown): HttpAnswer | Promise<HttpAnswer>;
  readonly size: number;
  close(): Promise<void>;
}

export interface SessionsOptions {
  readonly vitrine: Engine;
  readonly dispatcher: Dispatcher;
  readonly streams: EventStreams;
  readonly log: Log;
  readonly limits?: SessionLimits | undefined;
  readonly resume?: ResumptionOptions | undefined;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { vitrine, dispatcher, streams, log, limits = DEFAULT_SESSION_LIMITS, resume } = options;
  const sessions = new Map<string, Kept>();
  const ending = new Set<Promise<void>>();
  /** Handshakes under way: they count, or many at once would get past the limit. */
  let opening = 0;
  let closed = false;
  const sweep = setInterval(() => expire(Date.now() - limits.idleMs), Math.min(limits.idleMs, 30_000));
  sweep.unref();

  function expire(before: number): void {
    for (const kept of sessions.values()) {
      if (!kept.session.listening && kept.lastUsed < before) void kept.end();
    }
  }

  /** Makes room for a new session by ending the one that was unused for longest, if it was for long enough. */
  function makeRoom(): boolean {
    if (sessions.size + opening < limits.maxSessions) return true;
    const idle = [...sessions.values()].filter(({ session }) => !session.listening);
    const oldest = idle.reduce<Kept | undefined>(
      (a, b) => (a === undefined || b.lastUsed < a.lastUsed ? b : a),
      undefined,
    );
    if (oldest === undefined || Date.now() - oldest.lastUsed < EVICT_AFTER_MS) return false;
    void oldest.end();
    return true;
  }

  /** @param leave gives the session's place back, at its end */
  function open(principal: Principal, leave: () => void): Kept {
    const id = crypto.randomUUID();
    const expiry = new Expiry(0);
    const session = new Session({
      id,
      peer: (tell) => new Peer({ vitrine, dispatcher, log, principal, transport: 'tcp', tell }),
      streams,
      expiry,
      admission: vitrine.admission,
      resume,
    });
    const told = vitrine.telemetry?.opened('session', 'tcp');
    let closing: Promise<void> | undefined;
    const end = (goodbye = false): Promise<void> => {
      closing ??= (async () => {
        sessions.delete(id);
        leave();
        told?.();
        await session.close(goodbye).catch((error: unknown) => log.warn('a watch did not end', { error }));
      })();
      const over = closing.finally(() => ending.delete(over));
      ending.add(over);
      return closing;
    };
    return { owner: principal, session, expiry, lastUsed: Date.now(), end };
  }

  function use(kept: Kept, { http, principal, expiresAt }: Asked, body: unknown): HttpAnswer | Promise<HttpAnswer> {
    kept.lastUsed = Date.now();
    kept.expiry.renew(expiresAt);
    if (http.method === 'POST') return kept.session.post(http, body, principal);
    if (http.method === 'GET') {
      const streamEnded = vitrine.telemetry?.opened('stream', 'tcp');
      const answer = kept.session.open(http, () => {
        kept.lastUsed = Date.now();
        streamEnded?.();
      });
      // A stream that was refused is none, and its end would never be told.
      if (answer.status !== 200) streamEnded?.();
      return answer;
    }
    const problem = revisionProblem(http);
    if (problem !== undefined) return problem;
    // The session's watches may take their time to end.
    void kept.end();
    return { status: 200 };
  }

  /** Shakes hands; a handshake that is refused, or fails, leaves no session behind. */
  async function begin(asked: Asked, body: unknown): Promise<HttpAnswer> {
    let leave: () => void;
    try {
      leave = vitrine.admission.hold('sessions', asked.principal);
    } catch (error) {
      return tooMany(error, idOf(body));
    }
    const kept = open(asked.principal, leave);
    opening++;
    let begun = false;
    try {
      const answer = await use(kept, asked, body);
      begun = answer.status === 200 && !closed;
      if (begun) sessions.set(kept.session.id, kept);
      return answer;
    } finally {
      opening--;
      if (!begun) void kept.end();
    }
  }

  return {
    handle(asked, body) {
      const { http, principal } = asked;
      const id = http.headers.get('mcp-session-id');
      if (id !== null) {
        const kept = sessions.get(id);
        // Of another one, it is as if it were not there: an id that was seen or guessed gives nothing away.
        return kept === undefined || !isOf(kept, principal)
          ? refusal(404, -32_001, 'Session not found; start a new one with initialize')
          : use(kept, asked, body);
      }
      if (!asksToInitialize(body)) {
        return refusal(
          400,
          -32_000,
          'A request outside of a session; start one with initialize, or speak revision 2026-07-28',
        );
      }
      if (closed || !makeRoom()) {
        return refusal(503, -32_000, 'Too many sessions; try again later', { 'Retry-After': '60' });
      }
      return begin(asked, body);
    },
    get size() {
      return sessions.size;
    },
    async close() {
      closed = true;
      clearInterval(sweep);
      for (const kept of [...sessions.values()]) void kept.end(true);
      await Promise.allSettled([...ending]);
    },
  };
}

function asksToInitialize(body: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.some(
    (message) =>
      typeof message === 'object' &&
      message !== null &&
      'method' in message &&
      message.method === 'initialize' &&
      // Without an id there is no answer, and so nobody who would know the session.
      'id' in message,
  );
}
