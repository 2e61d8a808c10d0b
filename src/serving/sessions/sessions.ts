/**
 * Serves the 2025 era over HTTP: keeps a session for each client that has sent `initialize`, so that updates can be reported to it.
 * The number of sessions is limited, and unused sessions end.
 */

import type { Log, Principal } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import type { Data } from '../../protocol/data.ts';
import { Expiry } from '../auth/expiry.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { EventStreams } from '../http/events.ts';
import { type HttpAnswer, refusal } from '../http/exchange.ts';
import { idOf, tooMany } from '../http/floods.ts';
import type { HttpCall } from '../http/modern.ts';
import { Peer } from '../peer/peer.ts';
import { revisionFor } from '../peer/revision.ts';
import type { ResumptionOptions } from './resumption.ts';
import { revisionProblem, Session } from './session.ts';
import { createSharedSessions, type SharedSession } from './shared.ts';

export interface SessionLimits {
  /** The most sessions at the same time. */
  readonly maxSessions: number;
  /** A session without requests and without an open stream ends after this many milliseconds. */
  readonly idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { maxSessions: 1_000, idleMs: 30 * 60 * 1000 };

/** How long a session must have been unused before it may end to make room for a new one, in milliseconds. */
const EVICT_AFTER_MS = 60_000;

/** How long an unused session is kept in this replica if it can be restored at any time, in milliseconds. */
const REBUILT_AFTER_MS = 60_000;

interface Kept {
  /** The principal and application that began the session. It answers nobody else. */
  readonly owner: Pick<Principal, 'id' | 'clientId'>;
  readonly session: Session;
  /** The shared part of the session, if replicas share it. */
  readonly shared: SharedSession | undefined;
  /** When the client's access ends: the expiry of its token that lasts longest. */
  readonly expiry: Expiry;
  lastUsed: number;
  /** Ends the session, once. @param goodbye whether running requests get an answer that says that the server ends */
  readonly end: (goodbye?: boolean) => Promise<void>;
}

/** Whether a session belongs to a principal. Two applications of one person do not share sessions: their rights may differ. */
const isOf = ({ owner }: Pick<Kept, 'owner'>, { id, clientId = '' }: Principal): boolean =>
  owner.id === id && (owner.clientId ?? '') === clientId;

export interface Sessions {
  /** Answers a request. @param body the parsed body of a POST */
  handle(call: HttpCall, body: unknown): HttpAnswer | Promise<HttpAnswer>;
  readonly size: number;
  close(): Promise<void>;
}

export interface SessionsOptions {
  readonly engine: Engine;
  readonly dispatcher: Dispatcher;
  readonly streams: EventStreams;
  readonly log: Log;
  readonly limits?: SessionLimits | undefined;
  readonly resume?: ResumptionOptions | undefined;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { engine, dispatcher, streams, log, limits = DEFAULT_SESSION_LIMITS, resume } = options;
  const { bus, keys } = engine;
  const shared = bus && keys && createSharedSessions(bus, keys);
  const sessions = new Map<string, Kept>();
  /** Sessions that are being taken over from other replicas. */
  const taking = new Map<string, Promise<Kept | HttpAnswer | undefined>>();
  const ending = new Set<Promise<void>>();
  /** The number of running handshakes. They count as sessions, because many at once could exceed the limit. */
  let opening = 0;
  let closed = false;
  const sweep = setInterval(expire, Math.min(limits.idleMs, 30_000));
  sweep.unref();

  function expire(): void {
    for (const kept of sessions.values()) {
      const idleMs = kept.shared?.rebuilt === true ? Math.min(limits.idleMs, REBUILT_AFTER_MS) : limits.idleMs;
      if (!kept.session.inUse && kept.lastUsed < Date.now() - idleMs) void kept.end();
      else if (kept.session.listening) kept.shared?.used();
    }
  }

  /** Makes room for a new session: ends the session that was unused for longest, if that was long enough. */
  function makeRoom(): boolean {
    if (sessions.size + opening < limits.maxSessions) return true;
    const idle = [...sessions.values()].filter(({ session }) => !session.inUse);
    const oldest = idle.reduce<Kept | undefined>(
      (a, b) => (a === undefined || b.lastUsed < a.lastUsed ? b : a),
      undefined,
    );
    const spared = oldest?.shared?.rebuilt === true ? 0 : EVICT_AFTER_MS;
    if (oldest === undefined || Date.now() - oldest.lastUsed < spared) return false;
    void oldest.end();
    return true;
  }

  /**
   * @param leave called at the end of the session, gives its place back
   * @param resumed whether the session was begun in another replica
   */
  function open(principal: Principal, leave: () => void, part: SharedSession | undefined, resumed = false): Kept {
    const id = part?.sealed ?? crypto.randomUUID();
    const expiry = new Expiry(0);
    const session = new Session({
      id,
      peer: (tell) => new Peer({ engine, dispatcher, log, principal, transport: 'tcp', tell, shared: part, resumed }),
      streams,
      expiry,
      admission: engine.admission,
      resume,
      shared: part,
      resumed,
      ended: () => void end(),
    });
    const countEnd = engine.telemetry?.opened('session', 'tcp');
    let closing: Promise<void> | undefined;
    const end = (goodbye = false): Promise<void> => {
      closing ??= (async () => {
        sessions.delete(id);
        part?.leave();
        leave();
        countEnd?.();
        await session.close(goodbye).catch((error: unknown) => log.warn('a watch did not end', { error }));
      })();
      const over = closing.finally(() => ending.delete(over));
      ending.add(over);
      return closing;
    };
    return { owner: principal, session, shared: part, expiry, lastUsed: Date.now(), end };
  }

  function use(kept: Kept, { http, principal, expiresAt }: HttpCall, body: unknown): HttpAnswer | Promise<HttpAnswer> {
    kept.lastUsed = Date.now();
    kept.shared?.used();
    kept.expiry.renew(expiresAt);
    if (http.method === 'POST') return kept.session.post(http, body, principal);
    if (http.method === 'GET') {
      const streamEnded = engine.telemetry?.opened('stream', 'tcp');
      const answer = kept.session.open(http, () => {
        kept.lastUsed = Date.now();
        streamEnded?.();
      });
      // A refused stream never ends, so its end is counted now.
      if (answer.status !== 200) streamEnded?.();
      return answer;
    }
    const problem = revisionProblem(http);
    if (problem !== undefined) return problem;
    return ended(kept);
  }

  /** Ends a session for all replicas, at the client's request. The answer does not wait for its watches to end. */
  async function ended(kept: Kept): Promise<HttpAnswer> {
    await kept.shared?.end();
    void kept.end();
    return { status: 200 };
  }

  /** Continues a session that another replica, or this one some time ago, has begun. */
  function takeOver(id: string, principal: Principal): Promise<Kept | HttpAnswer | undefined> | undefined {
    const claims = shared?.open(id);
    if (shared === undefined || claims === undefined || !isOf(claims, principal)) return undefined;
    const pending = taking.get(id);
    if (pending !== undefined) return pending;
    const taken = (async () => {
      const part = await shared.takeOver(claims, id);
      if (part === undefined) return undefined;
      if (closed || !makeRoom()) return NO_ROOM;
      try {
        const kept = open(principal, engine.admission.hold('sessions', principal), part, true);
        sessions.set(id, kept);
        return kept;
      } catch (error) {
        return tooMany(error, null);
      }
    })().finally(() => taking.delete(id));
    taking.set(id, taken);
    return taken;
  }

  async function useTaken(id: string, call: HttpCall, body: unknown): Promise<HttpAnswer> {
    const taken = await takeOver(id, call.principal);
    if (taken === undefined) return NOT_YOURS;
    return 'status' in taken ? taken : use(taken, call, body);
  }

  /** Begins a session with a handshake. If the handshake is refused or fails, no session remains. */
  async function begin(call: HttpCall, body: unknown): Promise<HttpAnswer> {
    let leave: () => void;
    try {
      leave = engine.admission.hold('sessions', call.principal);
    } catch (error) {
      return tooMany(error, idOf(body));
    }
    const params = handshakeIn(body)?.params as Data | undefined;
    const part = shared?.begin(
      call.principal,
      revisionFor(params?.protocolVersion),
      params?.capabilities as Data | undefined,
    );
    const kept = open(call.principal, leave, part);
    opening++;
    let begun = false;
    try {
      const answer = await use(kept, call, body);
      begun = answer.status === 200 && !closed;
      if (begun) sessions.set(kept.session.id, kept);
      return answer;
    } finally {
      opening--;
      if (!begun) void kept.end();
    }
  }

  return {
    handle(call, body) {
      const { http, principal } = call;
      const id = http.headers.get('mcp-session-id');
      if (id !== null) {
        const kept = sessions.get(id);
        // A session of somebody else is answered as if it did not exist, so that a guessed id tells nothing.
        if (kept !== undefined && isOf(kept, principal)) return use(kept, call, body);
        return kept === undefined && shared !== undefined ? useTaken(id, call, body) : NOT_YOURS;
      }
      if (handshakeIn(body) === undefined) {
        return refusal(
          400,
          -32_000,
          'A request outside of a session; start one with initialize, or speak revision 2026-07-28',
        );
      }
      if (closed || !makeRoom()) {
        return NO_ROOM;
      }
      return begin(call, body);
    },
    get size() {
      return sessions.size;
    },
    async close() {
      closed = true;
      clearInterval(sweep);
      for (const kept of [...sessions.values()]) void kept.end(true);
      shared?.close();
      await Promise.allSettled([...ending]);
    },
  };
}

const NOT_YOURS = refusal(404, -32_001, 'Session not found; start a new one with initialize');

const NO_ROOM = refusal(503, -32_000, 'Too many sessions; try again later', { 'Retry-After': '60' });

/** The `initialize` request in a body; undefined if there is none. */
function handshakeIn(body: unknown): Data | undefined {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  return messages.find(
    (message): message is Data =>
      typeof message === 'object' &&
      message !== null &&
      'method' in message &&
      message.method === 'initialize' &&
      // Without an id there is no answer, so the client would not learn the id of the session.
      'id' in message,
  );
}
