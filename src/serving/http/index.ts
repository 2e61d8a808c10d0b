/** Serves many clients over Streamable HTTP at one endpoint, each in its own era. */
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { SILENT } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';
import type { Engine } from '../../engine/index.ts';
import type { BesidePage } from '../../frontends/explorer/layout.ts';
import { type AuthOptions, METADATA_PATH, metadataPaths } from '../auth/index.ts';
import type { SignInOptions } from '../auth/sign-in.ts';
import { DEFAULT_HOST, DEFAULT_PORT, ENDPOINT } from '../defaults.ts';
import { CARD_METHODS, CARD_PATHS } from './card.ts';
import type { Door } from './door.ts';
import { createEndpointCore, type EndpointCore, type EndpointOptions, METHODS } from './endpoint.ts';
import { createExplorer } from './explorer/index.ts';
import { type Listener, openListener } from './listener.ts';
import { createHandler, type HandlerOptions } from './node.ts';
import { askedParamHeaders } from './param-headers.ts';
import { createProbes, type MetricsOptions, type Probes } from './probes.ts';
import { cutUnread, seldom, type Tell } from './slow-clients.ts';
import type { TlsOptions } from './tls.ts';
import { type HttpEndpoint, overWeb } from './web.ts';

export type { HttpLimits } from './endpoint.ts';
export type { HttpEndpoint } from './web.ts';

export interface HttpOptions extends EndpointOptions {
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly host?: string | undefined;
  /** The port to listen on; 0 takes a free one. Default: 8931. */
  readonly port?: number | undefined;
  /**
   * Allows a `host` that other machines can reach even if no token is needed. They can then read all that anonymous callers may
   * read. Default: false.
   */
  readonly allowRemote?: boolean | undefined;
  /** Certificates for TLS. Default: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
  /**
   * Whether the explorer at `/` shows the resources in a browser. With `auth`, people sign in at an issuer if `signIn` is given, and
   * otherwise need a token in a header. Default: `true`.
   */
  readonly explorer?: boolean | { readonly signIn: SignInOptions } | undefined;
  /** Metrics for Prometheus at `/metrics`. Default: none. */
  readonly metrics?: MetricsOptions | undefined;
}

/** Options of a server for one person. */
export interface PersonalOptions extends HttpOptions {
  /** Lets in only the person with the key. Default: everybody who reaches the server may come in. */
  readonly door?: Door | undefined;
  /** Pages of the explorer in addition to those of resources. Default: none. */
  readonly pages?: readonly BesidePage[] | undefined;
}

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
  /** Stops listening, and ends all streams and sessions. The engine stays open: it belongs to the caller. */
  close(): Promise<void>;
}

/** Makes a fetch handler that serves both eras behind the guard. It does not listen itself. */
export const createEndpoint = (engine: Engine, options: EndpointOptions = {}): HttpEndpoint =>
  overWeb(createEndpointCore(engine, options));

/**
 * Serves the engine over HTTP: the endpoint at `/mcp`, its card at `/mcp/server-card` and `/.well-known/ai-catalog.json`,
 * the explorer at `/`, `GET /healthz` and `GET /readyz`, and `GET /metrics` if metrics are configured.
 * @throws ResourceError `invalid` for a host that other machines can reach without a token and without `allowRemote`, and for
 *   wrong options, such as `auth` or `tls`; `unavailable` if it cannot listen, as at a port in use
 */
export const serveHttp = (engine: Engine, options: HttpOptions = {}): Promise<HttpServing> =>
  servePersonally(engine, options);

/** As `serveHttp`, with a door and more pages. @throws ResourceError as `serveHttp` */
export async function servePersonally(engine: Engine, options: PersonalOptions): Promise<HttpServing> {
  const host = options.host ?? DEFAULT_HOST;
  const open = options.auth === undefined || options.auth.anonymous === true;
  if (!isLoopback(host) && open && options.allowRemote !== true) {
    const why = options.auth === undefined ? 'there is no authorization' : 'requests without a token are accepted';
    throw new ResourceError('invalid', `${host} can be reached from other machines, and ${why}`);
  }
  const log = options.log ?? SILENT;
  const tell = seldom((message, facts) => log.warn(message, facts));
  const failed = (error: unknown): void => log.error('a request failed', { error });
  const probes = createProbes(engine, options, log);
  const core = createEndpointCore(engine, options);
  let listener: Listener;
  try {
    const others = routesBeside(core, probes, options, tell);
    const explorer =
      options.explorer === false
        ? undefined
        : createExplorer(engine, core, core.dispatcher, {
            signIn: signInOf(options),
            log,
            publicUrl: options.auth?.resource,
            keyed: options.door !== undefined,
            beside: options.pages,
          });
    listener = await openListener({
      handler: createHandler({ core, cors: corsFor(options), explorer, door: options.door, others, failed, tell }),
      host,
      port: options.port ?? DEFAULT_PORT,
      tls: options.tls,
      limits: core.limits,
      log,
    });
  } catch (error) {
    await core.close();
    throw error;
  }
  let closing: Promise<void> | undefined;
  return {
    url: `${listener.origin}${ENDPOINT}`,
    port: listener.port,
    close: () => (closing ??= listener.close(() => core.close())),
  };
}

/** @throws ResourceError `invalid` for a sign-in without an issuer */
function signInOf({
  explorer,
  auth,
}: HttpOptions): { readonly options: SignInOptions; readonly auth: AuthOptions } | undefined {
  if (typeof explorer !== 'object') return undefined;
  if (auth === undefined) throw invalid('A sign-in to the explorer needs auth: without it everybody may come in');
  return { options: explorer.signIn, auth };
}

/**
 * Answers what the fast handler leaves: probes, metadata, the card, preflights of pages, and other spellings of the endpoint's
 * path.
 */
function routesBeside(core: EndpointCore, probes: Probes, options: HttpOptions, tell: Tell) {
  const log = options.log ?? SILENT;
  const endpoint = overWeb(core);
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.onError((error, context) => {
    // A client that has gone, or took too long to send its request, gets no answer.
    if (context.req.raw.signal.aborted) return new Response(null, { status: 499 });
    log.error('a request failed', { error });
    return Response.json(INTERNAL, { status: 500 });
  });
  // There is no guard here, because load balancers send an address as `Host`. The answer tells only that the server runs.
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/readyz', ({ req, env }) => probes.ready(req.raw, env.incoming.socket.remoteAddress));
  const { metrics } = probes;
  if (metrics !== undefined) app.get('/metrics', ({ req, env }) => metrics(req.raw, env.incoming.socket.remoteAddress));
  // Lets pages of allowed origins read the answers to their requests.
  const { allowedOrigins = [] } = options;
  if (allowedOrigins.length > 0)
    app.use(ENDPOINT, (context, next) => {
      const allowHeaders = [...CORS_HEADERS.allowHeaders, ...askedParamHeaders(context.req.raw.headers)];
      return cors({ origin: [...allowedOrigins], ...CORS_HEADERS, allowHeaders })(context, next);
    });
  app.all(ENDPOINT, ({ req, env }) => {
    const { socket } = env.incoming;
    return endpoint.fetch(req.raw, { from: socket.remoteAddress, cut: () => cutUnread(socket, tell) });
  });
  if (options.card !== false)
    app.on([...CARD_METHODS], [...CARD_PATHS], ({ req, env }) =>
      endpoint.fetch(req.raw, { from: env.incoming.socket.remoteAddress }),
    );
  if (options.auth !== undefined) {
    const paths = metadataPaths(options.auth);
    const under = `${METADATA_PATH}/*`;
    if (allowedOrigins.length > 0) app.use(under, cors({ origin: [...allowedOrigins], allowMethods: ['GET'] }));
    app.get(under, (context) =>
      paths.includes(new URL(context.req.url).pathname) ? endpoint.fetch(context.req.raw) : context.notFound(),
    );
  }
  return getRequestListener(app.fetch, { hostname: options.host ?? DEFAULT_HOST });
}

const INTERNAL = { jsonrpc: '2.0', error: { code: -32_603, message: 'Internal error' }, id: null };

/** Makes the headers that let pages of allowed origins read an answer. */
function corsFor({ allowedOrigins = [] }: HttpOptions): HandlerOptions['cors'] {
  if (allowedOrigins.length === 0) return undefined;
  return ({ origin = '' }) => ({
    ...(allowedOrigins.includes(origin) && { 'Access-Control-Allow-Origin': origin }),
    'Access-Control-Expose-Headers': CORS_HEADERS.exposeHeaders.join(','),
    Vary: 'Origin',
  });
}
