/**
 * The 2025-era side of HTTP: a session for each client that shook hands, so that it can be told of updates. Sessions
 * are bounded in number and end when they are not used.
 */
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { ANONYMOUS, type Log, type Principal } from '../../core/context.ts';
import type { Vitrine } from '../../vitrine.ts';
import { ANSWER_GRACE_MS, createExpiry, type Expiry, endingWith } from '../auth/expiry.ts';
import { authInfoOf } from '../auth/passing.ts';
import { idOf, tooMany } from '../http/floods.ts';
import { createSdkServer } from '../sdk-server.ts';
import { connectionSubscriptions, type SubscriptionSink, type Subscriptions } from '../subscriptions.ts';
import { createIdsInUse, type IdsInUse } from './ids-in-use.ts';
import { createEventStore, DEFAULT_RESUMPTION, type ResumptionOptions } from './resumption.ts';

export interface SessionLimits {
  /** Sessions at the same time. */
  readonly maxSessions: number;
  /** A session without requests and without an open stream ends after this many milliseconds. */
  readonly idleMs: number;
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = { maxSessions: 1_000, idleMs: 30 * 60 * 1000 };

/** How long a session must have been unused before a new one may take its place, in milliseconds. */
const EVICT_AFTER_MS = 60_000;

interface Session {
  /** Who began it, and by which application; it answers to nobody else. */
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  readonly subscriptions: Subscriptions;
  readonly ids: IdsInUse;
  /** Of the token that its client came with, the one that is good for longest. */
  readonly expiry: Expiry;
  lastUsed: number;
  /** Streams the client holds open. */
  streams: number;
  /** Tells telemetry of the end of the only stream that it may have: one that ends with the session is not told of. */
  streamEnded?: (() => void) | undefined;
}

/** Two applications of one person may do different things for that person. */
const ownerOf = ({ id, clientId = '' }: Principal): string => JSON.stringify([id, clientId]);

export interface Sessions {
  /**
   * @param principal whose request it is. Default: anonymous
   * @param expiresAt until when that holds, in milliseconds since 1970; streams of the session end when its client has
   *   not come back by then with something that holds for longer. Default: for ever
   */
  handle(request: Request, parsedBody: unknown, principal?: Principal, expiresAt?: number): Promise<Response>;
  readonly size: number;
  close(): Promise<void>;
}

export function createSessions(
  vitrine: Vitrine,
  log: Log,
  limits: SessionLimits = DEFAULT_SESSION_LIMITS,
  resume?: ResumptionOptions,
): Sessions {
  const sessions = new Map<string, Session>();
  /** Handshakes under way: they count, or many at once would get past the limit. */
  let opening = 0;
  let closed = false;
  const sweep = setInterval(() => expire(Date.now() - limits.idleMs), Math.min(limits.idleMs, 30_000));
  sweep.unref();

  function expire(before: number): void {
    for (const session of sessions.values()) {
      if (session.streams === 0 && session.lastUsed < before) void session.transport.close();
    }
  }

  /** Makes room for a new session by ending the one that was unused for longest, if it was for long enough. */
  function makeRoom(): boolean {
    if (sessions.size + opening < limits.maxSessions) return true;
    const idle = [...sessions].filter(([, session]) => session.streams === 0);
    const oldest = idle.reduce<(typeof idle)[number] | undefined>(
      (a, b) => (a === undefined || b[1].lastUsed < a[1].lastUsed ? b : a),
      undefined,
    );
    if (oldest === undefined || Date.now() - oldest[1].lastUsed < EVICT_AFTER_MS) return false;
    sessions.delete(oldest[0]);
    void oldest[1].transport.close();
    return true;
  }

  /** @param leave gives the session's place back, at its end */
  async function open(principal: Principal, leave: () => void): Promise<Session> {
    const undelivered = (error: unknown): void => log.debug('a notification was not delivered', { error });
    const peer = crypto.randomUUID();
    const sink: SubscriptionSink = {
      updated: (uri) => void server.sendResourceUpdated({ uri }).catch(undelivered),
      listChanged: () => void server.sendResourceListChanged().catch(undelivered),
      promptsChanged: () => void server.sendPromptListChanged().catch(undelivered),
      toolsChanged: () => void server.sendToolListChanged().catch(undelivered),
    };
    const subscriptions = connectionSubscriptions(vitrine, sink, peer);
    const server = createSdkServer(vitrine, { era: 'legacy', log, principal, subscriptions, peer });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      ...(resume !== undefined && {
        eventStore: createEventStore(resume),
        retryInterval: resume.retryMs ?? DEFAULT_RESUMPTION.retryMs,
      }),
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    const session: Session = {
      owner: ownerOf(principal),
      transport,
      server,
      subscriptions,
      ids: createIdsInUse(transport),
      expiry: createExpiry(0),
      lastUsed: Date.now(),
      streams: 0,
    };
    await server.connect(transport);
    const ended = vitrine.telemetry?.opened('session', 'tcp');
    const closeServer = transport.onclose;
    transport.onclose = () => {
      closeServer?.();
      ended?.();
      session.streamEnded?.();
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
      leave();
      subscriptions.close().catch(undelivered);
    };
    return session;
  }

  async function use(
    session: Session,
    request: Request,
    parsedBody: unknown,
    principal: Principal,
    expiresAt: number | undefined,
  ): Promise<Response> {
    session.lastUsed = Date.now();
    session.expiry.renew(expiresAt);
    const authInfo = authInfoOf(principal);
    const options = parsedBody === undefined ? { authInfo } : { parsedBody, authInfo };
    const settle = session.ids.take(parsedBody);
    // Not under the id: it would be taken for the answer to the other.
    if (settle === undefined) return refusal(400, -32_600, 'The id of a request is in use in this session');
    const response = await session.transport.handleRequest(request, options);
    settle(response.ok);
    // A stream that was refused is none, and its end would never be told.
    if (request.method === 'GET' && response.ok && !request.signal.aborted) {
      session.streams++;
      const streamEnded = vitrine.telemetry?.opened('stream', 'tcp');
      session.streamEnded?.();
      session.streamEnded = streamEnded;
      let open = true;
      const ended = (): void => {
        if (!open) return;
        open = false;
        session.streams--;
        streamEnded?.();
        session.lastUsed = Date.now();
      };
      request.signal.addEventListener('abort', ended, { once: true });
      return endingWith(response, session.expiry, { graceMs: 0, onExpired: ended });
    }
    return endingWith(response, session.expiry, { graceMs: ANSWER_GRACE_MS });
  }

  /** Shakes hands; a handshake that is refused, or fails, leaves no session behind. */
  async function begin(
    request: Request,
    parsedBody: unknown,
    principal: Principal,
    expiresAt: number | undefined,
  ): Promise<Response> {
    let leave: () => void;
    try {
      leave = vitrine.admission.hold('sessions', principal);
    } catch (error) {
      return tooMany(error, idOf(parsedBody));
    }
    opening++;
    let session: Session | undefined;
    try {
      session = await open(principal, leave);
      return await use(session, request, parsedBody, principal, expiresAt);
    } finally {
      opening--;
      if (session === undefined) leave();
      if (session !== undefined && (session.transport.sessionId === undefined || closed)) {
        await session.transport.close();
      }
    }
  }

  return {
    async handle(request, parsedBody, principal = ANONYMOUS, expiresAt) {
      const id = request.headers.get('mcp-session-id');
      if (id !== null) {
        const session = sessions.get(id);
        // Of another one, it is as if it were not there: an id that was seen or guessed gives nothing away.
        return session === undefined || session.owner !== ownerOf(principal)
          ? refusal(404, -32_001, 'Session not found; start a new one with initialize')
          : use(session, request, parsedBody, principal, expiresAt);
      }
      if (!asksToInitialize(parsedBody)) {
        return refusal(
          400,
          -32_000,
          'A request outside of a session; start one with initialize, or speak revision 2026-07-28',
        );
      }
      if (closed || !makeRoom()) {
        return refusal(503, -32_000, 'Too many sessions; try again later', { 'Retry-After': '60' });
      }
      return begin(request, parsedBody, principal, expiresAt);
    },
    get size() {
      return sessions.size;
    },
    async close() {
      closed = true;
      clearInterval(sweep);
      const all = [...sessions.values()];
      await Promise.allSettled(all.map((session) => session.transport.close()));
      await Promise.allSettled(all.map((session) => session.subscriptions.close()));
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

/** A JSON-RPC error outside of any request. */
export function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
