/**
 * A company: its identity provider, which exchanges ID tokens for assertions (ID-JAG); the authorization server of an MCP server, which
 * issues tokens for these; and that server, a Vitrine.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import { createRemoteJWKSet, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import Provider, { type GrantContext } from 'oidc-provider';
import { memoryProvider } from '../../../src/providers/memory/index.ts';
import { createEndpoint } from '../../../src/serving/http/index.ts';
import { createVitrine } from '../../../src/vitrine.ts';
import { visit } from './browser.ts';
import { type Listening, listening, REDIRECT_PORT, SCOPE, TEXT } from './servers.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
export const ID_JAG = 'oauth-id-jag+jwt';

/** The client at the identity provider. */
export const AT_IDP = { clientId: 'gateway-at-idp', clientSecret: 'idp-secret-0123456789' } as const;
/** The client at the authorization server of the upstream. */
export const AT_SERVER = { clientId: 'gateway-at-docs', clientSecret: 'docs-secret-0123456789' } as const;

const REDIRECT = `http://127.0.0.1:${REDIRECT_PORT}/callback`;

/** The parts of an assertion, which a test can change. */
export interface Assertion {
  readonly claims: JWTPayload;
  readonly header: { readonly alg: string; readonly typ?: string; readonly kid?: string };
}

export interface Company extends AsyncDisposable {
  readonly idp: Listening;
  readonly authorization: Listening;
  /** The URL of the MCP server, which is also its resource identifier. */
  readonly url: string;
  readonly server: Listening;
  /** The assertions that were issued so far. */
  readonly assertions: readonly string[];
  /** Changes the parts of assertions from now on. If it returns a text, that is issued unchanged. */
  tamper(change: (assertion: Assertion) => Assertion | string): void;
  /** Admits people of the company to one more server, which trusts the same authorization server. */
  allow(resource: string): void;
  /** Signs a person in, and returns the ID token. */
  signIn(): Promise<string>;
  /** A JWT signed with the key of the authorization server. */
  forge(claims: JWTPayload, typ: string): Promise<string>;
}

const newKey = (): { readonly kid: string; readonly privateKey: KeyObject } => ({
  kid: randomUUID(),
  privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
});

const seconds = (): number => Math.floor(Date.now() / 1_000);

/** An OpenID provider with its key, and one client that may use one more grant. */
function providerAt(origin: string, key: ReturnType<typeof newKey>, client: object): Provider {
  return new Provider(origin, {
    jwks: { keys: [{ ...key.privateKey.export({ format: 'jwk' }), kid: key.kid, alg: 'ES256', use: 'sig' }] },
    cookies: { keys: [randomUUID()] },
    scopes: ['openid', SCOPE],
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    pkce: { required: () => true },
    ttl: { Grant: 600, Session: 600, Interaction: 600, AccessToken: 600, IdToken: 600 },
    clients: [{ id_token_signed_response_alg: 'ES256', ...client }],
  });
}

const refuse = (context: GrantContext, error: string): void => {
  context.status = 400;
  // Servers may quote the request.
  context.body = { error, error_description: JSON.stringify(context.oidc.params) };
};

export async function company(): Promise<Company> {
  const idpKey = newKey();
  const serverKey = newKey();
  const assertions: string[] = [];
  const allowed = new Set<unknown>();
  const isAllowed = (resource: unknown): boolean => resource === url() || allowed.has(resource);
  let change: (assertion: Assertion) => Assertion | string = (assertion) => assertion;

  const idp = await listening((origin) => {
    const provider = providerAt(origin, idpKey, {
      client_id: AT_IDP.clientId,
      client_secret: AT_IDP.clientSecret,
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', EXCHANGE],
      redirect_uris: [REDIRECT],
    });
    const params = ['audience', 'resource', 'requested_token_type', 'subject_token', 'subject_token_type', 'scope'];
    provider.registerGrantType(
      EXCHANGE,
      async (context) => {
        const {
          subject_token: token = '',
          audience,
          resource,
          scope,
          requested_token_type: kind,
        } = context.oidc.params;
        const keys = createRemoteJWKSet(new URL(`${origin}/jwks`));
        const signedIn = await jwtVerify(token, keys, { issuer: origin, audience: AT_IDP.clientId }).catch(
          () => undefined,
        );
        if (signedIn === undefined) return refuse(context, 'invalid_grant');
        // The company admits nobody to servers of others.
        if (audience !== authorization.origin || !isAllowed(resource)) return refuse(context, 'invalid_target');
        const { claims, header, ...made } = textOr(
          change({
            claims: {
              ...{ jti: randomUUID(), iss: origin, sub: String(signedIn.payload.sub), aud: audience, resource, scope },
              ...{ client_id: AT_SERVER.clientId, iat: seconds(), exp: seconds() + 60 },
            },
            header: { alg: 'ES256', typ: ID_JAG, kid: idpKey.kid },
          }),
        );
        const assertion = made.text ?? (await new SignJWT(claims).setProtectedHeader(header).sign(idpKey.privateKey));
        assertions.push(assertion);
        context.body = { access_token: assertion, issued_token_type: kind, token_type: 'N_A', expires_in: 60 };
      },
      params,
    );
    return provider.callback();
  });

  const authorization = await listening((origin) => {
    const provider = providerAt(origin, serverKey, {
      client_id: AT_SERVER.clientId,
      client_secret: AT_SERVER.clientSecret,
      grant_types: [JWT_BEARER],
      redirect_uris: [],
      response_types: [],
    });
    const taken = new Set<unknown>();
    provider.registerGrantType(
      JWT_BEARER,
      async (context) => {
        const { assertion = '', scope } = context.oidc.params;
        const keys = createRemoteJWKSet(new URL(`${idp.origin}/jwks`));
        const expected = { issuer: idp.origin, audience: origin, typ: ID_JAG, algorithms: ['ES256'] };
        const verified = await jwtVerify(assertion, keys, expected).catch(() => undefined);
        const { jti, sub, resource, client_id: client, scope: granted } = verified?.payload ?? {};
        const good = verified !== undefined && isAllowed(resource) && client === context.oidc.client.clientId;
        if (!good || taken.has(jti)) return refuse(context, 'invalid_grant');
        taken.add(jti);
        const asked = String(scope ?? granted).split(' ');
        const scopes = asked.filter((each) => String(granted).split(' ').includes(each)).join(' ');
        const token = await forge(
          { sub: String(sub), client_id: client, scope: scopes, aud: String(resource) },
          'at+jwt',
        );
        context.body = { access_token: token, token_type: 'Bearer', expires_in: 600, scope: scopes };
      },
      ['assertion', 'scope'],
    );
    return provider.callback();
  });

  const forge = (claims: JWTPayload, typ: string): Promise<string> =>
    new SignJWT({ iss: authorization.origin, aud: url(), iat: seconds(), exp: seconds() + 600, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: serverKey.kid, typ })
      .sign(serverKey.privateKey);

  const memory = memoryProvider({ name: 'docs', resources: { 'private.txt': { text: TEXT } } });
  const vitrine = createVitrine({
    mounts: [{ name: 'docs', provider: memory, prefix: 'none' }],
    access: { rules: [{ effect: 'allow', who: { subjects: ['ada'], scopes: [SCOPE] } }] },
  });
  let endpoint: ReturnType<typeof createEndpoint> | undefined;
  const server = await listening((origin) => {
    const issuers = [{ issuer: authorization.origin }];
    endpoint = createEndpoint(vitrine, { auth: { resource: `${origin}/mcp`, issuers, scopes: [SCOPE] } });
    return getRequestListener(async (request) => (await endpoint?.fetch(request)) ?? new Response());
  });
  const url = (): string => `${server.origin}/mcp`;

  return {
    idp,
    authorization,
    server,
    url: url(),
    assertions,
    forge,
    tamper(by) {
      change = by;
    },
    allow: (resource) => void allowed.add(resource),
    signIn: () => signIn(idp.origin),
    async [Symbol.asyncDispose]() {
      await endpoint?.close();
      await vitrine.close();
      for (const each of [server, authorization, idp]) await each[Symbol.asyncDispose]();
    },
  };
}

const textOr = (made: Assertion | string): Assertion & { readonly text?: string } =>
  typeof made === 'string' ? { claims: {}, header: { alg: '' }, text: made } : made;

/** The authorization code flow of OpenID Connect with PKCE, in a browser. */
async function signIn(origin: string): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const address = new URL(`${origin}/auth`);
  address.search = new URLSearchParams({
    ...{ client_id: AT_IDP.clientId, response_type: 'code', scope: 'openid', redirect_uri: REDIRECT },
    ...{ code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' },
  }).toString();
  await using program = await listening(() => (_request, response) => void response.end('signed in'));
  const onReturn = ({ search }: URL): URL => new URL(`/callback${search}`, program.origin);
  const { url } = await visit(address, { onReturn });
  const answer = await fetch(`${origin}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', code: url.searchParams.get('code') ?? '', redirect_uri: REDIRECT },
      ...{ code_verifier: verifier, client_id: AT_IDP.clientId, client_secret: AT_IDP.clientSecret },
    }),
  });
  const { id_token: token } = (await answer.json()) as { readonly id_token?: string };
  if (token === undefined) throw new Error(`no ID token was given: ${answer.status}`);
  return token;
}
