/** The guarded endpoint: where it takes tokens from, what a client learns without one, and settings that are refused. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEndpoint, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { ERAS } from '../e2e/harness.ts';
import { http, post, type RawResponse } from '../e2e/raw.ts';
import { listening } from '../gateway/authorization/servers.ts';
import { challengeOf, type Scene, STATIC, setScene } from './authorization-scene.ts';
import {
  A,
  bearer,
  EVERYTHING,
  type Guarded,
  hashOf,
  type Issuer,
  RESOURCE,
  SCOPES,
  startGuarded,
} from './authorization-servers.ts';

let scene: Scene;
let issuer: Issuer;
let guarded: Guarded;

beforeEach(async () => {
  scene = await setScene();
  ({ issuer, guarded } = scene);
});

afterEach(async () => {
  await scene[Symbol.asyncDispose]();
});

describe('the endpoint', () => {
  const list = (headers: Record<string, string>, suffix = ''): Promise<RawResponse> =>
    post(guarded.serving.url + suffix, 'modern', 'resources/list', {}, headers);

  it('takes no token from the URL, even beside a valid one', async () => {
    const token = await issuer.token();
    for (const headers of [{}, bearer(token)]) {
      const response = await list(headers, `?access_token=${token}`);
      expect(response.status).toBe(400);
      expect(challengeOf(response)).toContain('error="invalid_request"');
    }
  });

  it('asks for a bearer token if another kind came, and refuses malformed headers', async () => {
    expect((await list({ authorization: 'Basic cmVhZGVyOng=' })).status).toBe(401);
    expect((await list({ authorization: `bEARER  ${STATIC}` })).status).toBe(200);
    for (const authorization of ['Bearer', 'Bearer a b', `Bearer ${STATIC}, Bearer ${STATIC}`]) {
      expect((await list({ authorization })).status).toBe(400);
    }
  });

  it('needs a token for everything: every HTTP method, and invalid bodies', async () => {
    const { url } = guarded.serving;
    for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'PATCH']) {
      expect((await http(url, { method })).status).toBe(401);
    }
    expect((await http(url, { body: '{"jsonrpc":', headers: { 'content-type': 'application/json' } })).status).toBe(
      401,
    );
    expect((await http(url.replace('/mcp', '/healthz'), { method: 'GET' })).text).toBe('{"status":"ok"}');
  });

  it('names the authorization servers in its metadata, with and without its path (RFC 9728)', async () => {
    const { origin } = new URL(guarded.serving.url);
    for (const path of ['', '/mcp']) {
      const response = await http(`${origin}/.well-known/oauth-protected-resource${path}`, { method: 'GET' });
      expect(response.headers['content-type']).toBe('application/json');
      expect(JSON.parse(response.text)).toEqual({
        resource: RESOURCE,
        authorization_servers: [issuer.origin],
        bearer_methods_supported: ['header'],
        scopes_supported: [SCOPES[0]],
        dpop_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
      });
    }
    const elsewhere = await http(`${origin}/.well-known/oauth-protected-resource/other`, { method: 'GET' });
    expect(elsewhere.status).toBe(404);
  });

  it('accepts the host of its resource, and no other', async () => {
    expect((await list({ ...bearer(STATIC), host: 'library.example' })).status).toBe(200);
    expect((await list({ ...bearer(STATIC), host: 'elsewhere.example' })).status).toBe(403);
  });

  it('admits anonymous callers where that is configured, and nobody with a bad token', async () => {
    await using open = await startGuarded({
      tokens: [{ name: 'till', hash: hashOf(STATIC) }],
      anonymous: true,
    });
    for (const era of ERAS) {
      expect((await open.ask(era, undefined, 'resources/read', { uri: A })).status).toBe(200);
      expect((await open.ask(era, 'bad', 'resources/read', { uri: A })).status).toBe(401);
    }
    expect(new Set(open.seen.map(({ principal }) => principal.id))).toEqual(new Set(['anonymous']));
  });

  it('checks tokens by the settings of their issuer: audience, algorithms, keys and groups', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    await using keys = await listening(() => (_request, response) => {
      response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k' }] }));
    });
    await using other = await startGuarded({
      issuers: [
        {
          issuer: issuer.origin,
          jwksUri: `${keys.origin}/keys`,
          audience: ['library', 'archive'],
          algorithms: ['ES384'],
          groupsClaim: 'roles',
        },
      ],
    });
    const header = { alg: 'ES384', kid: 'k' };
    const claims = { aud: 'archive', scope: undefined, scp: ['x', 'y'], roles: 'guide', groups: ['staff'], azp: 'app' };
    const good = await issuer.forge(claims, header, privateKey);
    for (const era of ERAS) {
      expect((await other.ask(era, good, 'resources/read', { uri: A })).status).toBe(200);
      expect(other.seen.at(-1)?.principal).toMatchObject({ clientId: 'app', scopes: ['x', 'y'], groups: ['guide'] });
    }
    for (const bad of [issuer.token(), issuer.forge({ ...claims, aud: RESOURCE }, header, privateKey)]) {
      expect((await other.ask('modern', await bad, 'resources/list')).status).toBe(401);
    }
    expect(issuer.requests.filter(({ line }) => line.startsWith('GET'))).toEqual([]);
  });

  it('accepts the hash of a token in base64url, too', async () => {
    const hash = Buffer.from(hashOf(STATIC), 'hex').toString('base64url');
    await using other = await startGuarded({ tokens: [{ name: 'till', hash }] });
    expect((await other.ask('modern', STATIC, 'resources/list')).status).toBe(200);
    expect((await other.ask('modern', hash, 'resources/list')).status).toBe(401);
  });

  it('lets pages of allowed origins read the challenge and the metadata, and no other pages', async () => {
    const vitrine = createVitrine({ mounts: [], access: EVERYTHING });
    const auth = { resource: RESOURCE, tokens: [{ name: 'till', hash: hashOf(STATIC) }] };
    const origin = 'https://app.example';
    const serving = await serveHttp(vitrine, { port: 0, auth, allowedOrigins: [origin] });
    const asks = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };
    const preflight = await http(serving.url, { method: 'OPTIONS', headers: asks });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, origin]);
    const refused = await http(serving.url, { headers: { origin } });
    expect(refused.status).toBe(401);
    expect(refused.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
    const metadata = `${new URL(serving.url).origin}/.well-known/oauth-protected-resource/mcp`;
    const read = await http(metadata, { method: 'GET', headers: { origin } });
    expect([read.status, read.headers['access-control-allow-origin']]).toEqual([200, origin]);
    expect((await http(metadata, { method: 'GET', headers: { origin: 'https://evil.example' } })).status).toBe(403);
    await serving.close();
    await vitrine.close();
  });

  it('writes no token to the log or to an answer', async () => {
    const tokens = [await issuer.token(), await issuer.forge({ exp: 1 }), STATIC, 'opaque-and-unknown-0123456789'];
    for (const token of tokens) {
      const answers = await Promise.all(
        ERAS.map((era) => guarded.ask(era, token, 'tools/call', { name: 'whoami', arguments: {} })),
      );
      const said = JSON.stringify([answers, guarded.logged]);
      for (const part of token.split('.')) expect(said).not.toContain(part);
    }
    expect(guarded.logged.join()).toContain('a token was refused');
  });
});

describe('auth', () => {
  const hash = hashOf(STATIC);
  const introspection = { clientId: 'library', clientSecret: 'x' };

  it.each([
    [{ resource: RESOURCE }, /neither issuers nor tokens/],
    [{ resource: 'http://library.example/mcp', tokens: [{ name: 'a', hash }] }, /https URL/],
    [{ resource: `${RESOURCE}#part`, tokens: [{ name: 'a', hash }] }, /without query, fragment/],
    [{ resource: RESOURCE, tokens: [{ name: 'a', hash: STATIC }] }, /no SHA-256/],
    [
      {
        resource: RESOURCE,
        tokens: [
          { name: 'a', hash },
          { name: 'a', hash },
        ],
      },
      /configured twice/,
    ],
    [{ resource: RESOURCE, issuers: [{ issuer: 'http://issuer.example' }] }, /https URL/],
    [{ resource: RESOURCE, issuers: [{ issuer: 'https://i.example', algorithms: ['HS256' as never] }] }, /HS256/],
    [{ resource: RESOURCE, issuers: [{ issuer: 'https://i.example', algorithms: ['none' as never] }] }, /none/],
    [
      { resource: RESOURCE, issuers: ['a', 'b'].map((name) => ({ issuer: `https://${name}.example`, introspection })) },
      /one issuer can have introspection/,
    ],
    [
      {
        resource: RESOURCE,
        issuers: [{ issuer: 'https://a.example', introspection: { ...introspection, url: 'http://a.example' } }],
      },
      /introspection url .*https URL/,
    ],
    [{ resource: RESOURCE, tokens: [{ name: 'a', hash }], dpop: { required: true } }, /bound to no key/],
    [{ resource: RESOURCE, tokens: [{ name: 'a', hash }], dpop: { algorithms: ['none' as never] } }, /Proofs.*none/],
  ])('is refused if it is contradictory, %#', async (auth, problem) => {
    const vitrine = createVitrine({ mounts: [], access: EVERYTHING });
    expect(() => createEndpoint(vitrine, { auth })).toThrow(problem);
    await vitrine.close();
  });

  it('allows listening for other machines, unless anonymous callers are admitted', async () => {
    const vitrine = createVitrine({ mounts: [], access: EVERYTHING });
    const auth = { resource: RESOURCE, tokens: [{ name: 'a', hash }] };
    await expect(serveHttp(vitrine, { host: '0.0.0.0', port: 0 })).rejects.toThrow(/no authorization/);
    await expect(serveHttp(vitrine, { host: '0.0.0.0', port: 0, auth: { ...auth, anonymous: true } })).rejects.toThrow(
      /0\.0\.0\.0 can be reached from other machines, and requests without a token are accepted/,
    );
    const serving = await serveHttp(vitrine, { host: '0.0.0.0', port: 0, auth });
    expect((await http(`http://127.0.0.1:${serving.port}/mcp`)).status).toBe(401);
    await serving.close();
    await vitrine.close();
  });
});
