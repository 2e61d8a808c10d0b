/** Tokens that are bound to a client's key are accepted only with a proof of that key (RFC 9449), in both eras. */
import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, type JWK, SignJWT } from 'jose';
import {
  allowInsecureRequests,
  type Client,
  ClientSecretBasic,
  clientCredentialsGrantRequest,
  customFetch,
  DPoP,
  type DPoPHandle,
  generateKeyPair,
  processClientCredentialsResponse,
  protectedResourceRequest,
} from 'oauth4webapi';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ERAS } from '../e2e/harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, post, type RawResponse } from '../e2e/raw.ts';
import {
  A,
  bearer,
  type Guarded,
  type Issuer,
  LIBRARY,
  RESOURCE,
  SCOPES,
  secretOf,
  sessionHeaders,
  startGuarded,
  startIssuer,
} from './authorization-servers.ts';

const client: Client = { client_id: 'reader' };
const ALGORITHMS = 'algs="RS256 PS256 ES256 EdDSA Ed25519"';

let keys: CryptoKeyPair;
let jwk: JWK;
let jkt: string;
let handle: DPoPHandle;

beforeAll(async () => {
  keys = await generateKeyPair('ES256', { extractable: true });
  jwk = await exportJWK(keys.publicKey);
  jkt = await calculateJwkThumbprint(jwk);
  handle = DPoP(client, keys);
});

afterEach(() => {
  vi.useRealTimers();
});

/** A token that the server issued for the key. */
async function boundToken({ origin }: Issuer): Promise<string> {
  const server = { issuer: origin, token_endpoint: `${origin}/token` };
  const parameters = { scope: SCOPES.join(' '), resource: RESOURCE };
  const response = await clientCredentialsGrantRequest(
    server,
    client,
    ClientSecretBasic(secretOf('reader')),
    new URLSearchParams(parameters),
    { DPoP: handle, [allowInsecureRequests]: true },
  );
  const { access_token: token, token_type: type } = await processClientCredentialsResponse(server, client, response);
  expect(type).toBe('dpop');
  return token;
}

interface Forged {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly signedBy?: CryptoKey | Uint8Array;
}

/** A proof for a POST, except for the given claims. */
function proofFor(
  token: string,
  { claims = {}, header = {}, signedBy = keys.privateKey }: Forged = {},
): Promise<string> {
  const ath = createHash('sha256').update(token).digest('base64url');
  const iat = Math.floor(Date.now() / 1_000);
  return new SignJWT({ htm: 'POST', htu: RESOURCE, jti: randomUUID(), iat, ath, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
    .sign(signedBy);
}

const shown = (token: string, proof: string | undefined): Record<string, string> => ({
  authorization: `DPoP ${token}`,
  ...(proof !== undefined && { dpop: proof }),
});

const challengeOf = (response: RawResponse): string => String(response.headers['www-authenticate']);

describe('a bound token', () => {
  let issuer: Issuer;
  let guarded: Guarded;

  beforeEach(async () => {
    issuer = await startIssuer();
    guarded = await startGuarded({ issuers: [{ issuer: issuer.origin }], scopes: [SCOPES[0]] });
  });

  afterEach(async () => {
    await guarded[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const list = (headers: Record<string, string>): Promise<RawResponse> =>
    post(guarded.serving.url, 'modern', 'resources/list', {}, headers);

  /** Sends a request with an OAuth library, as through a proxy. */
  async function asClient(token: string, method: string, headers: object, message?: object): Promise<Response> {
    const body = message === undefined ? undefined : JSON.stringify({ jsonrpc: '2.0', id: 1, ...message });
    return protectedResourceRequest(token, method, new URL(RESOURCE), new Headers({ ...headers }), body, {
      DPoP: handle,
      [customFetch]: (_url, init) => fetch(guarded.serving.url, init as RequestInit),
    });
  }

  it('with the proofs of a client is accepted for all requests of the client, 2025', async () => {
    const token = await boundToken(issuer);
    const begun = await asClient(token, 'POST', JSON_HEADERS, { method: 'initialize', params: INITIALIZE });
    expect(begun.status).toBe(200);
    await begun.text();
    const session = sessionHeaders(begun.headers.get('mcp-session-id') ?? '');
    const read = { method: 'resources/read', params: { uri: A } };
    const answer = await asClient(token, 'POST', { ...JSON_HEADERS, ...session }, read);
    expect(await answer.text()).toContain('"text":"a"');
    const stream = await asClient(token, 'GET', { accept: 'text/event-stream', ...session });
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    expect((await asClient(token, 'DELETE', session)).status).toBe(200);
    expect(guarded.seen.at(-1)?.principal.id).toBe(`${issuer.origin}#reader`);
  });

  it('with the proofs of a client is accepted for all requests of the client, 2026', async () => {
    const token = await boundToken(issuer);
    const named = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read', 'mcp-name': A };
    const read = { method: 'resources/read', params: { uri: A, _meta: ENVELOPE } };
    for (let n = 0; n < 2; n++) {
      const answer = await asClient(token, 'POST', { ...JSON_HEADERS, ...named }, read);
      expect(await answer.text()).toContain('"text":"a"');
    }
    expect(guarded.seen.at(-1)?.principal.id).toBe(`${issuer.origin}#reader`);
  });

  it.each(ERAS)(
    'is refused as a bearer token, without a proof, and with the scheme of another kind of token, %s',
    async (era) => {
      const token = await boundToken(issuer);
      const ask = (headers: Record<string, string>): Promise<RawResponse> =>
        era === 'modern' ? list(headers) : post(guarded.serving.url, era, 'initialize', INITIALIZE, headers);
      const asBearer = await ask({ ...bearer(token), dpop: await proofFor(token) });
      expect([asBearer.status, challengeOf(asBearer)]).toEqual([
        401,
        expect.stringMatching(/^Bearer .*bound to a key/),
      ]);
      const without = await ask(shown(token, undefined));
      expect(without.status).toBe(401);
      expect(challengeOf(without)).toMatch(/^DPoP resource_metadata="[^"]+", error="invalid_dpop_proof", .*missing/);
      expect(challengeOf(without)).toContain(ALGORITHMS);
      const free = await issuer.token();
      const unbound = await ask(shown(free, await proofFor(free)));
      expect(challengeOf(unbound)).toMatch(/^DPoP .*error="invalid_token", .*bound to no key/);
      expect(guarded.seen).toEqual([]);
    },
  );

  it('is accepted once with each proof', async () => {
    const token = await boundToken(issuer);
    const proof = await proofFor(token);
    const answers = await Promise.all([list(shown(token, proof)), list(shown(token, proof))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(answers.map(challengeOf).join()).toContain('has been used before');
    // A minute later the proof is too old, and still refused.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 75_000 });
    expect(challengeOf(await list(shown(token, proof)))).toContain('too old');
    expect((await list(shown(token, await proofFor(token)))).status).toBe(200);
  });

  it('is refused with a proof that is for another request, or is not valid', async () => {
    const token = await issuer.forge({ cnf: { jkt } });
    const now = Math.floor(Date.now() / 1_000);
    const other = await generateKeyPair('ES256', { extractable: true });
    const otherJwk = await exportJWK(other.publicKey);
    const secret = new TextEncoder().encode('a secret that is long enough to sign with it');
    const cases: readonly (readonly [Forged, string])[] = [
      [{ claims: { htm: 'GET' } }, 'another HTTP method'],
      [{ claims: { htu: 'https://elsewhere.example/mcp' } }, 'another address'],
      [{ claims: { htu: 'https://library.example/other' } }, 'another address'],
      [{ claims: { htu: guarded.serving.url } }, 'another address'],
      [{ claims: { htu: 1 } }, 'another address'],
      [{ claims: { ath: 'x' } }, 'another token'],
      [{ claims: { ath: undefined } }, "'ath' of the proof"],
      [{ claims: { jti: undefined } }, "'jti' of the proof"],
      [{ claims: { jti: 'x'.repeat(300) } }, 'no usable jti'],
      [{ claims: { jti: '' } }, 'no usable jti'],
      [{ claims: { iat: undefined } }, "'iat' of the proof"],
      [{ claims: { iat: now - 120 } }, 'too old'],
      [{ claims: { iat: now + 120 } }, "'iat' of the proof"],
      [{ claims: { exp: now - 60 } }, 'too old'],
      [{ header: { typ: 'JWT' } }, "'typ' of the proof"],
      [{ header: { jwk: otherJwk }, signedBy: other.privateKey }, 'another key'],
      [{ signedBy: other.privateKey }, 'signature of the proof is wrong'],
      [{ header: { jwk: undefined } }, 'malformed'],
      [{ header: { jwk: await exportJWK(keys.privateKey) } }, 'malformed'],
      [{ header: { alg: 'HS256', jwk: { kty: 'oct', k: 'x' } }, signedBy: secret }, 'algorithm that is not accepted'],
      [{ claims: { more: 'x'.repeat(9_000) } }, 'too long'],
    ];
    for (const [forged, said] of cases) {
      const response = await list(shown(token, await proofFor(token, forged)));
      expect([forged, response.status, challengeOf(response)]).toEqual([forged, 401, expect.stringContaining(said)]);
      expect(challengeOf(response)).toContain('error="invalid_dpop_proof"');
    }
    const proof = await proofFor(token);
    for (const dpop of ['', 'x', `${proof}, ${proof}`, `${proof.slice(0, -4)}AAAA`]) {
      expect(challengeOf(await list(shown(token, dpop)))).toContain('error="invalid_dpop_proof"');
    }
    // The refusals had other reasons than the token. The address in a proof may have a query.
    const good = await proofFor(token, { claims: { htu: 'https://LIBRARY.example:443/mcp?a=b#c', iat: now - 30 } });
    expect((await list(shown(token, good))).status).toBe(200);
    expect(guarded.logged.join()).not.toContain(proof);
  });

  it('that is also bound in another way is refused', async () => {
    for (const cnf of [{ jkt, 'x5t#S256': 'x' }, { 'x5t#S256': 'x' }, {}, null, 'x', { jkt: 1 }]) {
      const token = await issuer.forge({ cnf });
      expect((await list(bearer(token))).status).toBe(401);
      expect((await list(shown(token, await proofFor(token)))).status).toBe(401);
    }
  });

  it('with a malformed header, or without a required scope, gets a challenge with its scheme', async () => {
    for (const authorization of ['DPoP', 'DPoP a b', 'dpop  ']) {
      const response = await list({ authorization });
      expect([response.status, challengeOf(response)]).toEqual([400, expect.stringMatching(/^DPoP /)]);
    }
    const token = await issuer.forge({ cnf: { jkt }, scope: SCOPES[1] });
    const response = await list(shown(token, await proofFor(token)));
    expect([response.status, challengeOf(response)]).toEqual([
      403,
      expect.stringMatching(/^DPoP .*insufficient_scope/),
    ]);
  });
});

describe('the memory of proofs', () => {
  let issuer: Issuer;
  let guarded: Guarded;

  beforeEach(async () => {
    issuer = await startIssuer();
    guarded = await startGuarded({ issuers: [{ issuer: issuer.origin }], dpop: { maxProofs: 100 } });
  });

  afterEach(async () => {
    await guarded[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  interface Client {
    readonly token: string;
    readonly forged: Forged;
  }

  /** A client of that principal, with its own key. */
  async function clientOf(sub: string): Promise<Client> {
    const own = await generateKeyPair('ES256', { extractable: true });
    const ownJwk = await exportJWK(own.publicKey);
    const token = await issuer.forge({ sub, cnf: { jkt: await calculateJwkThumbprint(ownJwk) } });
    return { token, forged: { header: { jwk: ownJwk }, signedBy: own.privateKey } };
  }

  /** Gives the status of a request with that proof, or with a fresh one. */
  async function statusOf(era: (typeof ERAS)[number], { token, forged }: Client, proof?: string): Promise<number> {
    const headers = shown(token, proof ?? (await proofFor(token, forged)));
    const [method, params] = era === 'modern' ? ['resources/list', {}] : ['initialize', INITIALIZE];
    return (await post(guarded.serving.url, era, method, params, headers)).status;
  }

  /** How many requests, of the clients in turn, are answered before the first refusal, and the status of that refusal. */
  async function answered(
    era: (typeof ERAS)[number],
    ...clients: readonly Client[]
  ): Promise<readonly [number, number]> {
    for (let count = 0; ; count++) {
      const status = await statusOf(era, clients[count % clients.length] as Client);
      if (status !== 200) return [count, status];
    }
  }

  it.each(ERAS)('has a share for each principal, however many keys the principal has, %s', async (era) => {
    const keysOfAnn = await Promise.all([1, 2, 3].map(() => clientOf('ann')));
    const used = await proofFor(keysOfAnn[0]?.token ?? '', keysOfAnn[0]?.forged);
    expect(await statusOf(era, keysOfAnn[0] as Client, used)).toBe(200);
    expect(await answered(era, ...keysOfAnn)).toEqual([24, 503]);
    expect(await statusOf(era, await clientOf('ann'))).toBe(503);
    // A remembered proof stays refused, and other principals are not delayed.
    expect(await statusOf(era, keysOfAnn[0] as Client, used)).toBe(401);
    expect(await answered(era, await clientOf('bob'))).toEqual([25, 503]);
    // When all proofs are too old, there is room again. The old proof is still refused.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    expect(await statusOf(era, keysOfAnn[1] as Client)).toBe(200);
    expect(await statusOf(era, keysOfAnn[0] as Client, used)).toBe(401);
  });

  it.each(ERAS)('has room for a principal after others have used up their shares, %s', async (era) => {
    for (const flooder of ['a', 'b', 'c', 'd']) {
      expect(await answered(era, await clientOf(flooder))).toEqual([25, 503]);
    }
    expect(await answered(era, await clientOf('newcomer'))).toEqual([1, 503]);
    expect(await answered(era, await clientOf('another'))).toEqual([1, 503]);
    expect(await statusOf(era, await clientOf('a'))).toBe(503);
  });

  it('keeps nothing of refused proofs', async () => {
    const ann = await clientOf('ann');
    const eve = await clientOf('eve');
    for (let count = 0; count < 60; count++) {
      const stolen = await proofFor(ann.token, eve.forged);
      const wrong = await proofFor(ann.token, { ...ann.forged, claims: { htm: count % 2 === 0 ? 'GET' : 'PUT' } });
      const forged = await proofFor(ann.token, { ...ann.forged, signedBy: eve.forged.signedBy as CryptoKey });
      for (const proof of [stolen, wrong, forged]) expect(await statusOf('modern', ann, proof)).toBe(401);
    }
    expect(await answered('modern', ann)).toEqual([25, 503]);
  });
});

it('an opaque token can be bound to a key, too', async () => {
  await using issuer = await startIssuer({ format: 'opaque', claims: (sub) => ({ sub }) });
  await using guarded = await startGuarded({ issuers: [{ issuer: issuer.origin, introspection: LIBRARY }] });
  const ask = (headers: Record<string, string>): Promise<RawResponse> =>
    post(guarded.serving.url, 'modern', 'resources/list', {}, headers);
  const token = await boundToken(issuer);
  expect((await ask(bearer(token))).status).toBe(401);
  expect((await ask(shown(token, await proofFor(token)))).status).toBe(200);
  expect((await ask(shown(token, undefined))).status).toBe(401);
});

describe('auth.dpop', () => {
  const metadataOf = async ({ serving }: Guarded): Promise<unknown> =>
    JSON.parse(
      (await http(`${new URL(serving.url).origin}/.well-known/oauth-protected-resource`, { method: 'GET' })).text,
    );

  it('tells clients that they may use DPoP in addition to bearer tokens', async () => {
    await using issuer = await startIssuer();
    await using guarded = await startGuarded({ issuers: [{ issuer: issuer.origin }], dpop: { algorithms: ['ES256'] } });
    const asked = await guarded.ask('modern', undefined, 'resources/list');
    expect(challengeOf(asked)).toMatch(
      /^Bearer resource_metadata="[^"]+", DPoP resource_metadata="[^"]+", algs="ES256"$/,
    );
    expect(await metadataOf(guarded)).toMatchObject({ dpop_signing_alg_values_supported: ['ES256'] });
    expect((await guarded.ask('modern', await issuer.token(), 'resources/list')).status).toBe(200);
    const token = await boundToken(issuer);
    const ed = await generateKeyPair('Ed25519');
    const header = { alg: 'EdDSA', jwk: await exportJWK(ed.publicKey) };
    const proof = await proofFor(token, { header, signedBy: ed.privateKey });
    const refused = await post(guarded.serving.url, 'modern', 'resources/list', {}, shown(token, proof));
    expect(challengeOf(refused)).toContain('algorithm that is not accepted');
  });

  it.each(ERAS)('can require DPoP of all clients, %s', async (era) => {
    await using issuer = await startIssuer();
    await using guarded = await startGuarded({ issuers: [{ issuer: issuer.origin }], dpop: { required: true } });
    const asked = await guarded.ask(era, undefined, 'resources/list');
    expect(challengeOf(asked)).toMatch(/^DPoP resource_metadata="[^"]+", algs="[^"]+"$/);
    const free = await guarded.ask(era, await issuer.token(), 'resources/list');
    expect([free.status, challengeOf(free)]).toEqual([401, expect.stringContaining('has to be bound to a key')]);
    expect(challengeOf(free)).toContain('DPoP ');
    expect(await metadataOf(guarded)).toMatchObject({ dpop_bound_access_tokens_required: true });
    const token = await boundToken(issuer);
    const [method, params] = era === 'modern' ? ['resources/list', {}] : ['initialize', INITIALIZE];
    const good = await post(guarded.serving.url, era, method, params, shown(token, await proofFor(token)));
    expect(good.status).toBe(200);
  });
});
