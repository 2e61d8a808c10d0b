/** Serving many clients over Streamable HTTP, each in its own era, at one endpoint. */
import type { Server as NodeServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { serve } from '@hono/node-server';
import { isLegacyRequest } from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { ANONYMOUS, type Log, type Principal, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { Vitrine } from '../vitrine.ts';
import { type AuthOptions, createAuthorization, METADATA_PATH, metadataPaths } from './auth/index.ts';
import { DEFAULT_HOST, DEFAULT_PORT, ENDPOINT } from './defaults.ts';
import { createDirect } from './direct.ts';
import { createGuard, type GuardOptions, isLoopback } from './guard.ts';
import { createModern, DEFAULT_MODERN_LIMITS, type ModernLimits } from './modern.ts';
import type { ResumptionOptions } from './resumption.ts';
import { createSessions, DEFAULT_SESSION_LIMITS, refusal, type SessionLimits } from './sessions.ts';

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
  /** Lets 2025-era clients come back for what a broken stream did not bring. Default: not. */
  readonly resume?: ResumptionOptions | undefined;
}

export interface HttpLimits extends SessionLimits, ModernLimits {
  /** Bytes of a request's body. */
  readonly maxRequestBytes: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...DEFAULT_SESSION_LIMITS,
  ...DEFAULT_MODERN_LIMITS,
  maxRequestBytes: 4 * 1024 * 1024,
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
    'Last-Event-ID',
    'Mcp-Session-Id',
    'MCP-Protocol-Version',
    'Mcp-Method',
    'Mcp-Name',
  ],
  exposeHeaders: ['Mcp-Session-Id', 'WWW-Authenticate'],
  maxAge: 600,
};

/** How long open connections may take to end by themselves on shutdown, in milliseconds. */
const GRACE_MS = 2_000;

export interface HttpServing {
  /** The endpoint, such as `http://127.0.0.1:8931/mcp`. */
  readonly url: string;
  readonly port: number;
  /** Ends streams and sessions, then the listening socket. The engine stays open: it belongs to the caller. */
  close(): Promise<void>;
}

/** The endpoint as a fetch handler, for a server of one's own: `app.all('/mcp', (c) => endpoint.fetch(c.req.raw))`. */
export interface HttpEndpoint {
  /** @param options `principal`: who asks, where the caller has made sure of that itself; then no token is looked at */
  fetch(request: Request, options?: { readonly principal?: Principal | undefined }): Promise<Response>;
  close(): Promise<void>;
}

/** Both eras behind the guard. Listens to nothing by itself. */
export function createEndpoint(
  vitrine: Vitrine,
  options: Omit<HttpOptions, 'host' | 'port' | 'allowRemote'> = {},
): HttpEndpoint {
  const log = options.log ?? SILENT;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const authorization = options.auth === undefined ? undefined : createAuthorization(options.auth, log);
  const guard = createGuard({ ...options, allowedHosts: [...(options.allowedHosts ?? []), ...publicHost(options)] });
  const sessions = createSessions(vitrine, log, limits, options.resume);
  const modern = createModern(vitrine, log, limits);
  const direct = createDirect(vitrine, log);

  return {
    async fetch(request, given = {}) {
      const refused = guard(request);
      if (refused !== undefined) return refusal(403, -32_000, refused);
      const metadata = authorization?.metadata(request);
      if (metadata !== undefined) return metadata;
      const principal = given.principal ?? (await authorization?.authenticate(request)) ?? ANONYMOUS;
      if (principal instanceof Response) return principal;
      if (!METHODS.has(request.method))
        return refusal(405, -32_000, 'Method not allowed', { Allow: [...METHODS].join(', ') });
      if (request.method !== 'POST')
        return (await isLegacyRequest(request))
          ? sessions.handle(request, undefined, principal)
          : modern.handle(request, undefined, principal);
      const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
      if (type !== 'application/json') return refusal(415, -32_000, 'The Content-Type must be application/json');
      const body = await readBody(request, limits.maxRequestBytes);
      if (body === undefined) return refusal(413, -32_000, `A request has at most ${limits.maxRequestBytes} bytes`);
      let parsed: unknown;
      try {
        parsed = JSON.parse(body);
      } catch {
        return refusal(400, -32_700, 'The request is not valid JSON');
      }
      if (Array.isArray(parsed) && parsed.length > MAX_BATCH) {
        return refusal(400, -32_600, `A batch has at most ${MAX_BATCH} messages`);
      }
      const answer = await direct.answer(request, parsed, principal);
      if (answer !== undefined) return answer;
      return (await isLegacyRequest(request, parsed))
        ? sessions.handle(request, parsed, principal)
        : modern.handle(request, parsed, principal);
    },
    async close() {
      direct.close();
      await modern.close();
      await sessions.close();
    },
  };
}

/**
 * Serves the engine over HTTP: the endpoint at `/mcp`, and `GET /healthz`.
 * @throws ResourceError `invalid` for a host that others can reach without `auth` or `allowRemote`, and for an `auth`
 *   that makes no sense; `unavailable` for a port in use
 */
export async function serveHttp(vitrine: Vitrine, options: HttpOptions = {}): Promise<HttpServing> {
  const host = options.host ?? DEFAULT_HOST;
  const open = options.auth === undefined || options.auth.anonymous === true;
  if (!isLoopback(host) && open && options.allowRemote !== true) {
    throw new ResourceError('invalid', `${host} can be reached from other machines, and there is no authorization`);
  }
  const endpoint = createEndpoint(vitrine, options);
  const app = new Hono();
  // Asked by address, before the guard: so it says that the server runs, and nothing about it.
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  // Pages of origins that were allowed may read the answers too, not only ask.
  const { allowedOrigins = [] } = options;
  if (allowedOrigins.length > 0) app.use(ENDPOINT, cors({ origin: [...allowedOrigins], ...CORS_HEADERS }));
  app.all(ENDPOINT, (context) => endpoint.fetch(context.req.raw));
  if (options.auth !== undefined) {
    const paths = metadataPaths(options.auth);
    const under = `${METADATA_PATH}/*`;
    if (allowedOrigins.length > 0) app.use(under, cors({ origin: [...allowedOrigins], allowMethods: ['GET'] }));
    app.get(under, (context) =>
      paths.includes(new URL(context.req.url).pathname) ? endpoint.fetch(context.req.raw) : context.notFound(),
    );
  }
  let server: NodeServer;
  try {
    server = await listen(app, host, options.port ?? DEFAULT_PORT);
  } catch (error) {
    await endpoint.close();
    throw error;
  }
  const unused = unusedConnections(server);
  const { port } = server.address() as AddressInfo;
  const urlHost = host.includes(':') ? `[${host}]` : host;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${urlHost}:${port}${ENDPOINT}`,
    port,
    close: () => (closing ??= shutDown(server, unused, endpoint)),
  };
}

function listen(app: Hono, host: string, port: number): Promise<NodeServer> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }) as NodeServer;
    server.requestTimeout = 60_000;
    server.once('listening', () => resolve(server));
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const taken = cause.code === 'EADDRINUSE';
      reject(
        new ResourceError(
          'unavailable',
          taken ? `Port ${port} is already in use` : `Cannot listen on ${host}:${port}`,
          { cause },
        ),
      );
    });
  });
}

/** Connections that have not carried a request yet. Clients open them in advance, and Node does not count them as idle. */
function unusedConnections(server: NodeServer): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.on('request', ({ socket }) => unused.delete(socket));
  return unused;
}

async function shutDown(server: NodeServer, unused: ReadonlySet<Socket>, endpoint: HttpEndpoint): Promise<void> {
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  await endpoint.close();
  server.closeIdleConnections();
  for (const socket of unused) socket.destroy();
  const force = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await stopped;
  clearTimeout(force);
}

/** The name that clients know the endpoint by. */
const publicHost = ({ auth }: Pick<HttpOptions, 'auth'>): readonly string[] =>
  auth === undefined ? [] : [new URL(auth.resource).hostname];

/** The body as text, or undefined when it has more than `limit` bytes; stops reading there. */
async function readBody(request: Request, limit: number): Promise<string | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return undefined;
  // Node holds a request to the length that it announced, so there is no need to count.
  if (request.headers.has('content-length')) return request.text();
  if (request.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}
