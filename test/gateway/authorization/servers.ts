/** A real authorization server, and an MCP server that answers only requests with one of its tokens. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import Provider, { type IssuedToken } from 'oidc-provider';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { createEndpoint } from '../../../src/serving/http/index.ts';
import { createVitrine } from '../../../src/vitrine.ts';

export const MACHINE = { clientId: 'machine', clientSecret: 'machine-secret-0123456789' } as const;
export const BY_HAND = { clientId: 'by-hand', clientSecret: 'by-hand-secret-0123456789' } as const;
/** Below the range of ports that systems give out as free. */
export const REDIRECT_PORT = 27_871;
export const SCOPE = 'docs:read';
export const TEXT = 'Only for those who may.';

export interface Listening extends AsyncDisposable {
  readonly origin: string;
  /** The methods and paths of the requests so far. */
  readonly requests: { readonly line: string; readonly authorization: string | undefined }[];
}

/** Listens on a free port. The listener may need to know its origin. */
export async function listening(make: (origin: string) => RequestListener): Promise<Listening> {
  const server: Server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requests: { line: string; authorization: string | undefined }[] = [];
  server.on('request', ({ method, url, headers }) => {
    requests.push({ line: `${method} ${url}`, authorization: headers.authorization });
  });
  server.on('request', make(origin));
  return {
    origin,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface AuthorizationServer extends Listening {
  readonly provider: Provider;
  /** How many tokens were requested so far. */
  tokenRequests(): number;
}

export interface AuthorizationServerOptions {
  /** Lifetime of access tokens, in seconds. Default: 3,600. */
  readonly lifetime?: number;
}

/** Lifetimes, in seconds, that no test waits for. */
const TTL = { RefreshToken: 3_600, Grant: 3_600, Session: 600, Interaction: 600 };

export async function authorizationServer({
  lifetime = 3_600,
}: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  let provider: Provider | undefined;
  const server = await listening((origin) => {
    provider = new Provider(origin, {
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'RS256', use: 'sig' }] },
      cookies: { keys: [randomUUID()] },
      scopes: ['openid', 'offline_access', SCOPE],
      findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
      pkce: { required: () => true },
      ttl: { ...TTL, AccessToken: lifetime, ClientCredentials: lifetime },
      clients: [
        {
          client_id: MACHINE.clientId,
          client_secret: MACHINE.clientSecret,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          scope: SCOPE,
        },
        {
          client_id: BY_HAND.clientId,
          client_secret: BY_HAND.clientSecret,
          application_type: 'native',
          grant_types: ['authorization_code', 'refresh_token'],
          redirect_uris: [`http://127.0.0.1:${REDIRECT_PORT}/callback`],
        },
      ],
      features: {
        registration: { enabled: true },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context: unknown, audience: string) => ({
            scope: SCOPE,
            audience,
            accessTokenTTL: lifetime,
            accessTokenFormat: 'opaque',
          }),
          useGrantedResource: () => true,
        },
      },
    });
    return provider.callback();
  });
  if (provider === undefined) throw new Error('the authorization server was not made');
  return {
    ...server,
    provider,
    tokenRequests: () => server.requests.filter(({ line }) => line.startsWith('POST /token')).length,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export interface ProtectedServer extends Listening {
  readonly url: string;
}

/** An MCP server with one resource, which it gives to requests with a token for it that has the scope. */
export async function protectedServer({ provider, origin: issuer }: AuthorizationServer): Promise<ProtectedServer> {
  const memory = memoryProvider({ name: 'docs', resources: { 'private.txt': { text: TEXT } } });
  const vitrine = createVitrine({ mounts: [{ name: 'docs', provider: memory, prefix: 'none' }] });
  const endpoint = createEndpoint(vitrine);
  const server = await listening((origin) => {
    const resource = `${origin}/mcp`;
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    return getRequestListener(async (request) => {
      if (request.url === metadata) {
        return Response.json({ resource, authorization_servers: [issuer], scopes_supported: [SCOPE] });
      }
      if (new URL(request.url).pathname !== '/mcp') return new Response(undefined, { status: 404 });
      if (await isGood(request.headers.get('authorization'), resource, provider)) return await endpoint.fetch(request);
      return new Response(undefined, {
        status: 401,
        headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="${SCOPE}"` },
      });
    });
  });
  return {
    ...server,
    url: `${server.origin}/mcp`,
    async [Symbol.asyncDispose]() {
      await endpoint.close();
      await vitrine.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function isGood(header: string | null, resource: string, provider: Provider): Promise<boolean> {
  const value = /^Bearer (.+)$/.exec(header ?? '')?.[1];
  if (value === undefined) return false;
  const token: IssuedToken | undefined =
    (await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value));
  if (token === undefined || token.isExpired) return false;
  return [token.aud].flat().includes(resource) && (token.scope ?? '').split(' ').includes(SCOPE);
}
