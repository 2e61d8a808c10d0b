/** Authorization over HTTP: which tokens are accepted, and the challenges for others. */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KEYS_COOLDOWN_MS, KEYS_MAX_AGE_MS } from '../../src/serving/auth/keys.ts';
import { ERAS } from '../e2e/harness.ts';
import { messageOf, type RawResponse } from '../e2e/raw.ts';
import { listening } from '../gateway/authorization/servers.ts';
import { challengeOf, METADATA, type Scene, STATIC, setScene } from './authorization-scene.ts';
import { A, type Guarded, hashOf, type Issuer, resultOf, SCOPES, startGuarded } from './authorization-servers.ts';

let scene: Scene;
let issuer: Issuer;
let guarded: Guarded;

beforeEach(async () => {
  scene = await setScene();
  ({ issuer, guarded } = scene);
});

afterEach(async () => {
  vi.useRealTimers();
  await scene[Symbol.asyncDispose]();
});

/** Moves the clock of this process, and nothing else. */
function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

describe.each(ERAS)('a token, %s', (era) => {
  const read = (token: string | undefined): Promise<RawResponse> =>
    guarded.ask(era, token, 'resources/read', { uri: A });

  async function expectRefused(token: string | undefined, said: string | RegExp, status = 401): Promise<void> {
    const response = await read(token);
    expect(response.status).toBe(status);
    expect(challengeOf(response)).toMatch(said);
    expect(challengeOf(response)).toContain(`Bearer resource_metadata="${METADATA}"`);
    expect(challengeOf(response)).toContain(`scope="${SCOPES[0]}"`);
    expect(messageOf(response)).toMatchObject({ error: { code: -32_000 } });
    expect(guarded.seen).toEqual([]);
  }

  it('that the authorization server issued is accepted, and names the principal', async () => {
    const token = await issuer.token();
    expect(resultOf(await read(token)).contents).toMatchObject([{ uri: A, text: 'a' }]);
    const { content } = resultOf<{ content: [{ text: string }] }>(
      await guarded.ask(era, token, 'tools/call', { name: 'whoami', arguments: {} }),
    );
    const principal = {
      id: `${issuer.origin}#reader`,
      subject: 'reader',
      issuer: issuer.origin,
      clientId: 'reader',
      scopes: [...SCOPES],
      groups: ['staff', 'press'],
    };
    expect(JSON.parse(content[0].text)).toEqual(principal);
    expect(guarded.seen.filter(({ operation }) => operation === 'read')).toEqual([{ operation: 'read', principal }]);
  });

  it('that is missing is asked for, without an error code', async () => {
    await expectRefused(undefined, /^Bearer resource_metadata="[^"]+", scope="[^"]+"$/);
  });

  it('that has expired is refused, except within the allowed clock skew', async () => {
    const now = Math.floor(Date.now() / 1_000);
    await expectRefused(
      await issuer.forge({ exp: now - 60 }),
      'error="invalid_token", error_description="The token has',
    );
    expect((await read(await issuer.forge({ exp: now - 2 }))).status).toBe(200);
  });

  it('that is not valid yet, is for another resource, or is of another issuer is refused', async () => {
    const now = Math.floor(Date.now() / 1_000);
    await expectRefused(await issuer.forge({ nbf: now + 60 }), 'not good yet');
    await expectRefused(
      await issuer.token('reader', SCOPES[0], 'https://elsewhere.example/mcp'),
      'not for this resource',
    );
    await expectRefused(await issuer.forge({ aud: [] }), 'not for this resource');
    await expectRefused(
      await issuer.forge({ iss: 'https://elsewhere.example' }),
      'not of an issuer that this server trusts',
    );
    await expectRefused(await issuer.forge({ iss: `${issuer.origin}/` }), 'not of an issuer that this server trusts');
  });

  it('that lacks a required claim, or is bound to a key of its client, is refused', async () => {
    await expectRefused(await issuer.forge({ exp: undefined }), "'exp' of the token is missing");
    await expectRefused(await issuer.forge({ sub: '' }), 'no subject');
    await expectRefused(await issuer.forge({ cnf: { jkt: 'x' } }), 'bound to a key');
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['a DPoP proof', { typ: 'dpop+jwt' }],
    ['a refresh token', { typ: 'rt+jwt' }],
    ['a logout token', { typ: 'logout+jwt' }],
    ['an event', { typ: 'application/secevent+jwt' }],
    ['an introspection answer', { typ: 'token-introspection+jwt' }],
    ['a client that proves itself', { typ: 'client-authentication+jwt' }],
    ['a grant', { typ: 'oauth-id-jag+jwt' }],
    ['an unknown type', { typ: 'x' }],
    ['a type that is empty', { typ: '' }],
    ['a type that only begins well', { typ: 'at+jwt+x' }],
    ['a type of another kind', { typ: 'text/at+jwt' }],
    ['an ID token by its hash', { typ: 'JWT' }, { at_hash: 'x' }],
    ['an ID token by its code', { typ: 'JWT' }, { c_hash: 'x' }],
    ['an ID token by its nonce', { typ: 'JWT' }, { nonce: 'x' }],
    ['an ID token without a type', { typ: undefined }, { nonce: 'x' }],
    ['an ID token by what it is for', { typ: 'JWT' }, { token_use: 'id' }],
    ['an ID token by what it says', { typ: 'JWT' }, { typ: 'ID', nonce: 'x' }],
    ['a refresh token by what it says', { typ: 'JWT' }, { typ: 'Refresh' }],
    ['a refresh token by its kind', { typ: 'JWT' }, { token_type: 'refresh' }],
    ['an offline token', { typ: undefined }, { typ: 'Offline' }],
    ['an event without a type', { typ: undefined }, { events: {} }],
  ])('that is %s is refused', async (_, header, claims = {}) => {
    await expectRefused(await issuer.forge(claims, header), 'error_description="The token is not an access token"');
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['at+jwt', { typ: 'at+jwt' }],
    ['a media type', { typ: 'application/at+jwt' }],
    ['in other letters', { typ: 'AT+JWT' }],
    ['JWT', { typ: 'JWT' }],
    ['jwt', { typ: 'jwt' }],
    ['nothing', { typ: undefined }],
    ['a bearer token, with the nonce of its login', { typ: 'JWT' }, { typ: 'Bearer', nonce: 'x' }],
    ['for access', { typ: undefined }, { token_use: 'access' }],
  ])('whose type is %s is accepted', async (_, header, claims = {}) => {
    expect((await read(await issuer.forge(claims, header))).status).toBe(200);
  });

  it('in which a client names itself as the audience is refused', async () => {
    await expectRefused(await issuer.forge({ aud: 'reader' }, { typ: 'JWT' }), 'not for this resource');
  });

  it('that is signed by another algorithm is refused, without a request to the issuer', async () => {
    const shared = new TextEncoder().encode('a secret that is long enough to sign with it');
    const asked = issuer.requests.length;
    await expectRefused(await issuer.forge({}, { alg: 'HS256' }, shared), 'algorithm that is not accepted');
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
    await expectRefused(await issuer.forge({}, { alg: 'ES384' }, p384), 'algorithm that is not accepted');
    const [, claims] = (await issuer.forge()).split('.');
    for (const alg of ['none', 'None', 'NONE']) {
      const header = Buffer.from(JSON.stringify({ alg })).toString('base64url');
      await expectRefused(`${header}.${claims}.`, 'error="invalid_token"');
      await expectRefused(`${header}.${claims}.AAAA`, 'error="invalid_token"');
    }
    expect(issuer.requests.length).toBe(asked);
  });

  it('that is signed with another key, or was changed, is refused', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    await expectRefused(await issuer.forge({}, {}, other), 'signature of the token is wrong');
    await expectRefused(await issuer.forge({}, { kid: 'unknown' }, other), 'key that is not known');
    const [header, claims, signature] = (await issuer.token()).split('.');
    const changed = JSON.parse(Buffer.from(claims ?? '', 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...changed, sub: 'root' })).toString('base64url');
    await expectRefused(`${header}.${forged}.${signature}`, 'signature of the token is wrong');
  });

  it.each(['x', 'a.b.c', 'e30.e30.e30', `${'a'.repeat(4_000)}`, '....'])(
    'that is malformed, %#, is refused',
    async (token) => {
      await expectRefused(token, 'error="invalid_token"');
    },
  );

  it('without a required scope gets a 403 that names the scope', async () => {
    await expectRefused(await issuer.token('reader', SCOPES[1]), 'error="insufficient_scope"', 403);
    await expectRefused(await issuer.forge({ scope: undefined }), 'error="insufficient_scope"', 403);
  });

  it('that is configured is recognised by its hash', async () => {
    expect((await read(STATIC)).status).toBe(200);
    const principal = { id: 'token:till', subject: 'till', scopes: [SCOPES[0]], groups: ['shop'] };
    expect(guarded.seen.filter(({ operation }) => operation === 'read')).toEqual([{ operation: 'read', principal }]);
  });

  it('that is not configured, or is the configured hash itself, is refused', async () => {
    await expectRefused(`${STATIC}x`, 'error="invalid_token"');
    await expectRefused(hashOf(STATIC), 'error="invalid_token"');
  });

  it('that is signed with a removed key is refused as soon as the server sees a new key', async () => {
    const before = await issuer.token();
    expect((await read(before)).status).toBe(200);
    issuer.rotate();
    const after = await issuer.token();
    expect((await read(after)).status).toBe(401);
    later(KEYS_COOLDOWN_MS + 1_000);
    expect((await read(after)).status).toBe(200);
    expect((await read(before)).status).toBe(401);
  });

  it('that is signed with a removed key is refused after some minutes in any case', async () => {
    const before = await issuer.token();
    expect((await read(before)).status).toBe(200);
    issuer.rotate();
    expect((await read(before)).status).toBe(200);
    later(KEYS_MAX_AGE_MS + 1_000);
    expect((await read(before)).status).toBe(401);
  });
});

describe('the keys of an issuer', () => {
  it('are requested once, however many tokens with unknown keys come', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => issuer.forge({}, { kid: `k${n}` }, other)));
    const responses = await Promise.all(tokens.map((token) => guarded.ask('modern', token, 'resources/list')));
    expect(responses.map(({ status }) => status)).toEqual(tokens.map(() => 401));
    expect(issuer.keyRequests()).toBe(1);
  });

  it.each(['cannot be reached', 'are too much', 'are elsewhere'])(
    'that %s neither refuse nor admit anybody',
    async (how) => {
      await using broken = await listening(() => (_request, response) => {
        if (how === 'cannot be reached') response.writeHead(500).end();
        else if (how === 'are elsewhere') response.writeHead(302, { location: `${issuer.origin}/jwks` }).end();
        else response.end(JSON.stringify({ keys: [], more: 'x'.repeat(1024 * 1024) }));
      });
      await using other = await startGuarded({
        issuers: [{ issuer: issuer.origin, jwksUri: `${broken.origin}/jwks` }],
      });
      const token = await issuer.token();
      for (let n = 0; n < 3; n++) {
        const response = await other.ask('modern', token, 'resources/list');
        expect(response.status).toBe(503);
        expect(response.headers['retry-after']).toBe('5');
      }
      // The issuer is not asked again for a while.
      expect(broken.requests).toHaveLength(1);
    },
  );

  it.each([
    {
      how: 'a server that calls itself something else',
      issuerOf: () => 'https://elsewhere.example',
      keysOf: (origin: string) => origin,
    },
    { how: 'another server without https', issuerOf: (origin: string) => origin, keysOf: () => issuer.origin },
  ])('are not taken from $how', async ({ issuerOf, keysOf }) => {
    await using liar = await listening((origin) => (_request, response) => {
      response.end(JSON.stringify({ issuer: issuerOf(origin), jwks_uri: `${keysOf(origin)}/jwks` }));
    });
    await using other = await startGuarded({ issuers: [{ issuer: liar.origin }] });
    const token = await issuer.forge({ iss: liar.origin });
    expect((await other.ask('modern', token, 'resources/list')).status).toBe(503);
    expect(liar.requests.map(({ line }) => line)).toEqual([
      'GET /.well-known/openid-configuration',
      'GET /.well-known/oauth-authorization-server',
    ]);
    expect(issuer.keyRequests()).toBe(0);
  });
});
