/** An authorization server that issues JWTs, and an endpoint that trusts it. Both are real servers. */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { type JWTHeaderParameters, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import type { Log, Principal } from '../../src/core/context.ts';
import { wrapProvider } from '../../src/core/layer.ts';
import { defineTool } from '../../src/core/tool.ts';
import type { AccessRules } from '../../src/layers/access/index.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import type { AuthOptions } from '../../src/serving/auth/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import type { Era } from '../e2e/harness.ts';
import { http, INITIALIZE, JSON_HEADERS, messageOf, post, type RawResponse } from '../e2e/raw.ts';
import { type Listening, listening } from '../gateway/authorization/servers.ts';

/** Every authenticated caller may do everything: the tests are about authentication. */
export const EVERYTHING: AccessRules = { rules: [{ effect: 'allow' }] };

/** The address of the endpoint that clients know. It may listen at another one, as behind a proxy. */
export const RESOURCE = 'https://library.example/mcp';
export const SCOPES = ['docs:read', 'docs:write'] as const;
export const CLIENTS = ['reader', 'other'] as const;
export type ClientId = (typeof CLIENTS)[number];

export const secretOf = (client: ClientId): string => `${client}-secret-0123456789`;

/** The client that may ask the server about tokens. Its secret needs encoding in a header. */
export const LIBRARY = { clientId: 'library', clientSecret: 'library:secret+0123456789%' } as const;

export interface IssuerOptions {
  /** The format of access tokens. Default: jwt. */
  readonly format?: 'jwt' | 'opaque';
  /** The claims of a client's access token in addition to the usual ones. Default: two groups. */
  readonly claims?: (client: string) => Readonly<Record<string, unknown>>;
  /** How the endpoint authenticates at the issuer. Default: client_secret_basic. */
  readonly libraryAuth?: 'client_secret_basic' | 'client_secret_post';
}

interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

const newKey = (): SigningKey => ({
  kid: randomUUID(),
  privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
});

export interface Issuer extends Listening {
  /** A token that the server issued to a client for a resource. */
  token(client?: ClientId, scope?: string, resource?: string): Promise<string>;
  /** A token that the server did not issue, signed with its key unless another one is given. */
  forge(
    claims?: Readonly<Record<string, unknown>>,
    header?: Partial<JWTHeaderParameters>,
    key?: KeyObject | Uint8Array,
  ): Promise<string>;
  /** Replaces the key by another one, optionally at another path. */
  rotate(jwks?: string): void;
  /** Revokes a token that it issued. */
  revoke(token: string): Promise<void>;
  /** How often its keys were requested. */
  keyRequests(): number;
}

export async function startIssuer(options: IssuerOptions = {}): Promise<Issuer> {
  let key = newKey();
  let provider: Provider | undefined;
  let current: ReturnType<Provider['callback']> | undefined;
  let rotate = (_jwks?: string): void => {};
  const server = await listening((origin) => {
    rotate = (jwks) => {
      key = newKey();
      provider = createProvider(origin, key, options, jwks);
      current = provider.callback();
    };
    rotate();
    return (request, response) => current?.(request, response);
  });
  return {
    ...server,
    rotate: (jwks) => rotate(jwks),
    async revoke(token) {
      const found = await provider?.ClientCredentials.find(token);
      if (found === undefined) throw new Error('the server did not give this token');
      await found.destroy();
    },
    keyRequests: () => server.requests.filter(({ line }) => line === 'GET /jwks').length,
    async token(client = 'reader', scope = SCOPES.join(' '), resource = RESOURCE) {
      const response = await fetch(`${server.origin}/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from(`${client}:${secretOf(client)}`).toString('base64')}`,
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
      });
      const { access_token: token } = (await response.json()) as { readonly access_token?: string };
      if (token === undefined) throw new Error(`no token was given: ${response.status}`);
      return token;
    },
    forge(claims = {}, header = {}, by = key.privateKey) {
      const now = Math.floor(Date.now() / 1_000);
      const good = { iss: server.origin, aud: RESOURCE, sub: 'reader', scope: SCOPES.join(' '), exp: now + 600 };
      return new SignJWT({ ...good, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: key.kid, typ: 'at+jwt', ...header })
        .sign(by);
    },
  };
}

function createProvider(
  origin: string,
  { kid, privateKey }: SigningKey,
  {
    format = 'jwt',
    claims = () => ({ groups: ['staff', 'press'] }),
    libraryAuth = 'client_secret_basic',
  }: IssuerOptions,
  jwks = '/jwks',
): Provider {
  return new Provider(origin, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomUUID()] },
    scopes: [...SCOPES],
    findAccount: () => undefined,
    ttl: { ClientCredentials: 3_600 },
    routes: { jwks },
    extraTokenClaims: (_context: unknown, { clientId }: { readonly clientId: string }) => claims(clientId),
    clients: [
      ...CLIENTS.map((id) => ({
        client_id: id,
        client_secret: secretOf(id),
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        scope: SCOPES.join(' '),
      })),
      {
        client_id: LIBRARY.clientId,
        client_secret: LIBRARY.clientSecret,
        token_endpoint_auth_method: libraryAuth,
        grant_types: [],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, audience: string) => ({
          scope: SCOPES.join(' '),
          audience,
          accessTokenTTL: 3_600,
          accessTokenFormat: format,
          ...(format === 'jwt' && { jwt: { sign: { alg: 'ES256' } } }),
        }),
        useGrantedResource: () => true,
      },
    },
  });
}

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

export interface Guarded extends AsyncDisposable {
  readonly serving: HttpServing;
  readonly vitrine: Vitrine;
  /** The principals whose operations reached the provider, in their order. */
  readonly seen: readonly { readonly operation: 'read' | 'watch'; readonly principal: Principal }[];
  /** The subjects whose watches are open now. */
  readonly watched: ReadonlySet<string | undefined>;
  /** All log lines. */
  readonly logged: readonly string[];
  /** Changes a resource. */
  set(name: string, text: string): void;
  /** Sends one request, after the handshake if the era has one. Ends with the first refusal. */
  ask(era: Era, token: string | undefined, method: string, params?: object): Promise<RawResponse>;
}

export const A = 'memory:///a.txt';
/** A human has to confirm each read of it. */
export const CONFIRMED = 'memory:///c.txt';

/** Answers with the principal. */
const whoami = defineTool({
  name: 'whoami',
  inputSchema: { type: 'object' },
  run: (_input, { principal }) => ({ content: [{ type: 'text', text: JSON.stringify(principal) }] }),
});

export async function startGuarded(auth: Omit<AuthOptions, 'resource'>): Promise<Guarded> {
  const seen: { operation: 'read' | 'watch'; principal: Principal }[] = [];
  const watched = new Set<string | undefined>();
  const logged: string[] = [];
  const memory = memoryProvider({
    resources: { 'a.txt': { text: 'a' }, 'b.txt': { text: 'b' }, 'c.txt': { text: 'c' } },
  });
  const provider = wrapProvider(memory, {
    read(uri, want, ctx) {
      seen.push({ operation: 'read', principal: ctx.principal });
      return memory.read(uri, want, ctx);
    },
    async watch(uri, onChange, ctx) {
      seen.push({ operation: 'watch', principal: ctx.principal });
      const handle = await memory.watch?.(uri, onChange, ctx);
      if (handle === undefined) throw new Error('memory can be watched');
      const { subject } = ctx.principal;
      watched.add(subject);
      return {
        [Symbol.asyncDispose]() {
          watched.delete(subject);
          return handle[Symbol.asyncDispose]();
        },
      };
    },
  });
  const vitrine = createVitrine({
    access: EVERYTHING,
    mounts: [{ name: 'docs', provider, prefix: 'none' }],
    tools: [whoami],
    limits: { pageSize: 1 },
    confirm: [CONFIRMED],
  });
  const serving = await serveHttp(vitrine, { port: 0, auth: { resource: RESOURCE, ...auth }, log: logInto(logged) });
  return {
    serving,
    vitrine,
    seen,
    watched,
    logged,
    set: (name, text) => memory.set(name, { text }),
    async ask(era, token, method, params = {}) {
      if (era === 'modern') return post(serving.url, era, method, params, { ...nameOf(params), ...bearer(token) });
      const begun = await begin(serving.url, token);
      return begun.session === undefined
        ? begun.response
        : inSession(serving.url, begun.session, token, method, params);
    },
    async [Symbol.asyncDispose]() {
      await serving.close();
      await vitrine.close();
    },
  };
}

function logInto(lines: string[]): Log {
  const write = (message: string, facts: object = {}): void => {
    const errors = (_key: string, value: unknown): unknown =>
      value instanceof Error ? { ...value, message: value.message, cause: value.cause } : value;
    lines.push(JSON.stringify({ message, ...facts }, errors));
  };
  return { debug: write, info: write, warn: write, error: write };
}

export const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Gives the header that the 2026 era requires. */
function nameOf(params: object): Record<string, string> {
  const { uri, name } = params as { readonly uri?: string; readonly name?: string };
  const called = name ?? uri;
  return called === undefined ? {} : { 'mcp-name': called };
}

/** Shakes hands in the 2025 era. */
export async function begin(
  url: string,
  token: string | undefined,
): Promise<{ readonly session: string | undefined; readonly response: RawResponse }> {
  const response = await post(url, 'legacy', 'initialize', INITIALIZE, bearer(token));
  const session = response.headers['mcp-session-id'];
  if (typeof session !== 'string') return { session: undefined, response };
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await http(url, { headers: { ...JSON_HEADERS, ...bearer(token), ...sessionHeaders(session) }, body });
  return { session, response };
}

export const sessionHeaders = (session: string): Record<string, string> => ({
  'mcp-session-id': session,
  'mcp-protocol-version': '2025-11-25',
});

export const inSession = (
  url: string,
  session: string,
  token: string | undefined,
  method: string,
  params: object = {},
): Promise<RawResponse> => post(url, 'legacy', method, params, { ...bearer(token), ...sessionHeaders(session) });

/** The result of an answer. Fails if there is none. */
export function resultOf<T = Record<string, unknown>>(response: RawResponse): T {
  const { result } = messageOf(response);
  if (response.status !== 200 || result === undefined) throw new Error(`${response.status} ${response.text}`);
  return result as T;
}
