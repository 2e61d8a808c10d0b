/** Serving many clients over Streamable HTTP, each in its own era, at one endpoint. */
import type { HttpBindings } from '@hono/node-server';
import { isLegacyRequest } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { ANONYMOUS, type Log, type Principal, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';
import type { Vitrine } from '../../vitrine.ts';
import { createFailures } from '../auth/failures.ts';
import {
  type Authenticated,
  type AuthOptions,
  createAuthorization,
  METADATA_PATH,
  metadataPaths,
} from '../auth/index.ts';
import { challengeScopes } from '../auth/scope-challenge.ts';
import { DEFAULT_HOST, DEFAULT_PORT, ENDPOINT } from '../defaults.ts';
import { isTextTooDeep, MAX_DEPTH } from '../depth.ts';
import { createDirect } from '../direct/index.ts';
import type { ResumptionOptions } from '../legacy/resumption.ts';
import { createSessions, DEFAULT_SESSION_LIMITS, refusal, type SessionLimits } from '../legacy/sessions.ts';
import { createModern, DEFAULT_MODERN_LIMITS, type ModernLimits } from '../modern/index.ts';
import { bodyFormProblem, textOf } from './body-form.ts';
import { boundStream } from './bounded-stream.ts';
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from './connection-limits.ts';
import { refuseFlood } from './floods.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { type Listener, openListener } from './listener.ts';
import { askedParamHeaders } from './param-headers.ts';
import { createProbes, type MetricsOptions } from './probes.ts';
import { withRetryAfter } from './retry-after.ts';
import { willAnswer } from './sending.ts';
import { cutUnread, seldom } from './slow-clients.ts';
import type { TlsOptions } from './tls.ts';

export interface HttpOptions extends GuardOptions {
  /** Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Default: 8931. 0 takes a free one. */
  readonly port?: number | undefined;
  /** Allows a `host` that other machines can reach where no token is needed: they can read everything. */
  readonly allowRemote?: boolean | undefined;
  /** Who may use the endpoint. Default: everybody who reaches it. */
  readonly auth?: AuthOptions | undefined;
  readonly log?: Log | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Certificates to listen with. Default: plain HTTP. Of `serveHttp` alone. */
  readonly tls?: TlsOptions | undefined;
  /** Metrics for Prometheus at `/metrics`. Default: none. Of `serveHttp` alone. */
  readonly metrics?: MetricsOptions | undefined;
  /** Lets 2025-era clients come back for what a broken stream did not bring. Default: not. */
  readonly resume?: ResumptionOptions | undefined;
}

export interface HttpLimits extends SessionLimits, ModernLimits, ConnectionLimits {
  /** Bytes of a request's body. */
  readonly maxRequestBytes: number;
  /** Levels of arrays and objects in a request's body. */
  readonly maxRequestDepth: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...DEFAULT_SESSION_LIMITS,
  ...DEFAULT_MODERN_LIMITS,
  ...DEFAULT_CONNECTION_LIMITS,
  maxRequestBytes: 4 * 1024 * 1024,
  maxRequestDepth: MAX_DEPTH,
};

/** GET and DELETE are for sessions of the 2025 era. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'GET', 'DELETE']);

/** Messages of one batch, which revision 2025-03-26 allows: all are answered at the same time. */
const MAX_BATCH = 100;

const CORS_HEADERS = {
  allowMethods: [...METHODS],
  allowHeaders: [
    'Content-Type',
    'Accept',
    'Authorization',
    'DPoP',
    'Last-Event-ID',
    'Mcp-Session-Id',
    'MCP-Protocol-Version',
    'Mcp-Method',
    'Mcp-Name',
  ],
  exposeHeaders: ['Mcp-Session-Id', 'WWW-Authenticate', 'Retry-After'],
  maxAge: 600,
};

export interface HttpServing {
  /** The endpoint, such as `http://127.0.0.1:8931/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Ends streams and sessions, then the listening socket. The engine stays open: it belongs to the caller. */
  close(): Promise<void>;
}

/** The endpoint as a fetch handler, for a server of one's own: `app.all('/mcp', (c) => endpoint.fetch(c.req.raw))`. */
export interface HttpEndpoint {
  /**
   * @param options `principal`: who asks, where the caller has made sure of that itself; then no token is looked at.
   *   `expiresAt`: until when that holds, in milliseconds since 1970; its event streams end then. Default: for ever.
   *   `from`: the address that the request came from, for the audit.
   *   `cut`: ends the connection of a client that leaves too much of an event stream; without it the stream fails
   */
  fetch(
    request: Request,
    options?: Partial<Authenticated> & {
      readonly from?: string | undefined;
      readonly cut?: (() => void) | undefined;
    },
  ): Promise<Response>;
  close(): Promise<void>;
}

const NO_ACCESS =
  'auth says who may come in, and nothing says what they may do: give createVitrine an access, as in ' +
  "access: { rules: [{ effect: 'allow', who: 'authenticated' }] }";

/** Both eras behind the guard. Listens to nothing by itself. */
export function createEndpoint(
  vitrine: Vitrine,
  options: Omit<HttpOptions, 'host' | 'port' | 'allowRemote' | 'tls'> = {},
): HttpEndpoint {
  const log = options.log ?? SILENT;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  if (options.auth !== undefined && vitrine.sight === undefined) throw new ResourceError('invalid', NO_ACCESS);
  const failures = createFailures(vitrine.refused);
  const authorization = options.auth && createAuthorization(options.auth, log, failures.add);
  const guard = createGuard({ ...options, allowedHosts: [...(options.allowedHosts ?? []), ...publicHost(options)] });
  const sessions = createSessions(vitrine, log, limits, options.resume);
  const modern = createModern(vitrine, log, limits);
  const direct = createDirect(vitrine, log);

  async function inEra(
    request: Request,
    parsed: unknown,
    principal: Principal,
    expiresAt: number | undefined,
  ): Promise<Response> {
    return (await isLegacyRequest(request, parsed))
      ? sessions.handle(request, parsed, principal, expiresAt)
      : modern.handle(request, parsed, principal, expiresAt);
  }

  return {
    async fetch(request, given = {}) {
      const refused = guard(request);
      if (refused !== undefined) return refusal(403, -32_000, refused);
      const metadata = authorization?.metadata(request);
      if (metadata !== undefined) return metadata;
      const asks = given.principal === undefined ? await authorization?.authenticate(request, given.from) : given;
      if (asks instanceof Response) return asks;
      const { principal = ANONYMOUS, expiresAt } = asks ?? {};
      if (!METHODS.has(request.method))
        return refusal(405, -32_000, 'Method not allowed', { Allow: [...METHODS].join(', ') });
      const bound = (response: Response): Response => boundStream(response, limits.maxUnreadBytes, given.cut);
      if (request.method !== 'POST') {
        const refusedFlood = await refuseFlood(vitrine, undefined, principal);
        if (refusedFlood !== undefined) return refusedFlood;
        return bound(await inEra(request, undefined, principal, expiresAt));
      }
      const unreadable = bodyFormProblem(request.headers);
      if (unreadable !== undefined) return refusal(415, -32_000, unreadable);
      const bytes = await readBody(request, limits.maxRequestBytes);
      if (bytes === undefined) return refusal(413, -32_000, `A request has at most ${limits.maxRequestBytes} bytes`);
      const body = textOf(bytes);
      if (body === undefined) return refusal(400, -32_700, 'The request is not valid UTF-8');
      if (isTextTooDeep(body, limits.maxRequestDepth))
        return refusal(400, -32_600, `A request is nested at most ${limits.maxRequestDepth} levels deep`);
      let parsed: unknown;
      try {
        parsed = JSON.parse(body);
      } catch {
        return refusal(400, -32_700, 'The request is not valid JSON');
      }
      if (Array.isArray(parsed) && parsed.length > MAX_BATCH) {
        return refusal(400, -32_600, `A batch has at most ${MAX_BATCH} messages`);
      }
      const flooded = await refuseFlood(vitrine, parsed, principal);
      if (flooded !== undefined) return flooded;
      const challenged =
        authorization && (await challengeScopes(vitrine, authorization, { request, message: parsed, principal }));
      if (challenged !== undefined) return challenged;
      const answer = await direct.answer(request, parsed, principal);
      if (answer !== undefined) return answer;
      return bound(withRetryAfter(request, await inEra(request, parsed, principal, expiresAt)));
    },
    async close() {
      failures.close();
      direct.close();
      await modern.close();
      await sessions.close();
    },
  };
}

/**
 * Serves the engine over HTTP: the endpoint at `/mcp`, `GET /healthz` and `GET /readyz`, and `GET /metrics` where they
 * are given.
 * @throws ResourceError `invalid` for a host that others can reach without `auth` or `allowRemote`, and for an `auth`
 *   or `tls` that makes no sense; `unavailable` for a port in use
 */
export async function serveHttp(vitrine: Vitrine, options: HttpOptions = {}): Promise<HttpServing> {
  const host = options.host ?? DEFAULT_HOST;
  const open = options.auth === undefined || options.auth.anonymous === true;
  if (!isLoopback(host) && open && options.allowRemote !== true) {
    throw new ResourceError('invalid', `${host} can be reached from other machines, and there is no authorization`);
  }
  const log = options.log ?? SILENT;
  const probes = createProbes(vitrine, options, log);
  const endpoint = createEndpoint(vitrine, options);
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.onError((error, context) => {
    // Who has gone, or took too long to say what it wants, gets no answer.
    if (context.req.raw.signal.aborted) return new Response(null, { status: 499 });
    log.error('a request failed', { error });
    return refusal(500, -32_603, 'Internal error');
  });
  // Asked by address, before the guard: so it says that the server runs, and nothing about it.
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', ({ req, env }) => probes.ready(req.raw, env.incoming.socket.remoteAddress));
  const { metrics } = probes;
  if (metrics !== undefined) app.get('/metrics', ({ req, env }) => metrics(req.raw, env.incoming.socket.remoteAddress));
  // Pages of origins that were allowed may read the answers too, not only ask.
  const { allowedOrigins = [] } = options;
  if (allowedOrigins.length > 0)
    app.use(ENDPOINT, (context, next) => {
      const allowHeaders = [...CORS_HEADERS.allowHeaders, ...askedParamHeaders(context.req.raw.headers)];
      return cors({ origin: [...allowedOrigins], ...CORS_HEADERS, allowHeaders })(context, next);
    });
  const tell = seldom((message, facts) => log.warn(message, facts));
  app.all(ENDPOINT, ({ req, env }) => {
    willAnswer(req.raw, env.outgoing);
    const { socket } = env.incoming;
    return endpoint.fetch(req.raw, { from: socket.remoteAddress, cut: () => cutUnread(socket, tell) });
  });
  if (options.auth !== undefined) {
    const paths = metadataPaths(options.auth);
    const under = `${METADATA_PATH}/*`;
    if (allowedOrigins.length > 0) app.use(under, cors({ origin: [...allowedOrigins], allowMethods: ['GET'] }));
    app.get(under, (context) =>
      paths.includes(new URL(context.req.url).pathname) ? endpoint.fetch(context.req.raw) : context.notFound(),
    );
  }
  let listener: Listener;
  try {
    listener = await openListener({
      fetch: app.fetch,
      host,
      port: options.port ?? DEFAULT_PORT,
      tls: options.tls,
      limits: { ...DEFAULT_CONNECTION_LIMITS, ...options.limits },
      log,
    });
  } catch (error) {
    await endpoint.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    url: `${listener.origin}${ENDPOINT}`,
    port: listener.port,
    close: () => (closing ??= listener.close(() => endpoint.close())),
  };
}

/** The name that clients know the endpoint by. */
const publicHost = ({ auth }: Pick<HttpOptions, 'auth'>): readonly string[] =>
  auth === undefined ? [] : [new URL(auth.resource).hostname];

/** The body, or undefined when it has more than `limit` bytes; stops reading there. */
async function readBody(request: Request, limit: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  // Node holds a request to the length that it announced, so there is no need to count.
  if (request.headers.has('content-length')) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
