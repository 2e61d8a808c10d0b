/** Opaque tokens: the server asks their issuer about them (RFC 7662), in both eras, and no more often than necessary. */
import { type RequestListener, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FAILURE_COOLDOWN_MS } from '../../src/serving/auth/asking.ts';
import { DEFAULT_CACHE_S, REFUSAL_CACHE_S } from '../../src/serving/auth/introspection.ts';
import type { Introspection } from '../../src/serving/auth/options.ts';
import { ERAS } from '../e2e/harness.ts';
import { ENVELOPE, JSON_HEADERS, type RawResponse } from '../e2e/raw.ts';
import { until } from '../e2e/waiting.ts';
import { type Listening, listening } from '../gateway/authorization/servers.ts';
import {
  A,
  type Guarded,
  type Issuer,
  type IssuerOptions,
  LIBRARY,
  RESOURCE,
  resultOf,
  SCOPES,
  startGuarded,
  startIssuer,
} from './authorization-servers.ts';

const claims = (client: string): object => ({ sub: client, groups: ['staff', 'press'] });
const OPAQUE = { format: 'opaque', claims } as IssuerOptions;

afterEach(() => {
  vi.useRealTimers();
});

/** Moves the clock of this process, and nothing else. */
function later(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

const asked = ({ requests }: Listening): number =>
  requests.filter(({ line }) => line === 'POST /token/introspection').length;

const challengeOf = (response: RawResponse): string => String(response.headers['www-authenticate']);

describe('an opaque token', () => {
  let issuer: Issuer;
  let guarded: Guarded;

  beforeEach(async () => {
    issuer = await startIssuer(OPAQUE);
    guarded = await startGuarded({ issuers: [{ issuer: issuer.origin, introspection: LIBRARY }], scopes: [SCOPES[0]] });
  });

  afterEach(async () => {
    await guarded[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
  });

  const list = (token: string): Promise<RawResponse> => guarded.ask('modern', token, 'resources/list');

  it.each(ERAS)('that its issuer knows is accepted, and names the principal, %s', async (era) => {
    const token = await issuer.token();
    expect(token.split('.')).toHaveLength(1);
    expect(resultOf(await guarded.ask(era, token, 'resources/read', { uri: A })).contents).toMatchObject([
      { text: 'a' },
    ]);
    expect(guarded.seen.at(-1)?.principal).toEqual({
      id: `${issuer.origin}#reader`,
      subject: 'reader',
      issuer: issuer.origin,
      clientId: 'reader',
      scopes: [...SCOPES],
      groups: ['staff', 'press'],
    });
    // The issuer is asked once, however many requests the handshake and the read are.
    expect(asked(issuer)).toBe(1);
  });

  it.each(ERAS)('that is unknown, for another resource, or lacks a scope is refused, %s', async (era) => {
    const ask = (token: string): Promise<RawResponse> => guarded.ask(era, token, 'resources/read', { uri: A });
    const unknown = await ask('made-up-0123456789');
    expect(unknown.status).toBe(401);
    expect(challengeOf(unknown)).toContain('does not know the token');
    const elsewhere = await ask(await issuer.token('reader', SCOPES[0], 'https://elsewhere.example/mcp'));
    expect([elsewhere.status, challengeOf(elsewhere)]).toEqual([401, expect.stringContaining('not for this resource')]);
    const narrow = await ask(await issuer.token('reader', SCOPES[1]));
    expect([narrow.status, challengeOf(narrow)]).toEqual([403, expect.stringContaining('insufficient_scope')]);
    expect(guarded.seen).toEqual([]);
    expect(guarded.logged.join()).not.toContain('made-up');
  });

  it('is asked about once at a time, and again when the answer is too old', async () => {
    const token = await issuer.token();
    const answers = await Promise.all(Array.from({ length: 10 }, () => list(token)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(asked(issuer)).toBe(1);
    later(DEFAULT_CACHE_S * 1_000 + 1);
    expect((await list(token)).status).toBe(200);
    expect(asked(issuer)).toBe(2);
  });

  it('that is revoked is refused when the answer is too old, and that answer is kept for a shorter time', async () => {
    const token = await issuer.token();
    expect((await list(token)).status).toBe(200);
    await issuer.revoke(token);
    expect((await list(token)).status).toBe(200);
    later(DEFAULT_CACHE_S * 1_000 + 1);
    expect((await list(token)).status).toBe(401);
    expect((await list(token)).status).toBe(401);
    expect(asked(issuer)).toBe(2);
    later(REFUSAL_CACHE_S * 1_000 + 1);
    expect((await list(token)).status).toBe(401);
    expect(asked(issuer)).toBe(3);
  });

  it('is asked about at its issuer only; a JWT of another issuer causes no request', async () => {
    const jwt = await issuer.forge({ iss: 'https://elsewhere.example' });
    const requests = issuer.requests.length;
    expect(challengeOf(await list(jwt))).toContain('not of an issuer that this server trusts');
    expect(challengeOf(await list('x'.repeat(5_000)))).toContain('does not know the token');
    expect(issuer.requests.length).toBe(requests);
    // JWTs of this issuer are verified without a request.
    expect((await list(await issuer.forge())).status).toBe(200);
    expect(asked(issuer)).toBe(0);
  });
});

it('a secret that the issuer refuses admits nobody, and tokens do not count as invalid', async () => {
  await using issuer = await startIssuer(OPAQUE);
  const introspection = { ...LIBRARY, clientSecret: 'another-secret-0123456789' };
  await using guarded = await startGuarded({ issuers: [{ issuer: issuer.origin, introspection }] });
  const answer = await guarded.ask('modern', await issuer.token(), 'resources/list');
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
  expect(JSON.stringify([answer, guarded.logged])).not.toContain(introspection.clientSecret);
});

it('the secret can go into the body, answers need not be cached, and the subject can be in another claim', async () => {
  await using issuer = await startIssuer({ format: 'opaque', claims: () => ({}), libraryAuth: 'client_secret_post' });
  const introspection: Introspection = {
    ...LIBRARY,
    clientAuthentication: 'post',
    url: `${issuer.origin}/token/introspection`,
    cacheSeconds: 0,
  };
  const token = await issuer.token();
  await using strict = await startGuarded({ issuers: [{ issuer: issuer.origin, introspection }] });
  expect(challengeOf(await strict.ask('modern', token, 'resources/list'))).toContain('no subject');
  const named = { ...introspection, subjectClaim: 'client_id' };
  await using guarded = await startGuarded({ issuers: [{ issuer: issuer.origin, introspection: named }] });
  const before = asked(issuer);
  for (let n = 0; n < 2; n++)
    expect((await guarded.ask('modern', token, 'resources/read', { uri: A })).status).toBe(200);
  expect(guarded.seen.at(-1)?.principal.id).toBe(`${issuer.origin}#reader`);
  expect(asked(issuer) - before).toBe(2);
});

describe('an answer of an issuer about a token', () => {
  const now = (): number => Math.floor(Date.now() / 1_000);
  /** An answer that no real server can be made to give. */
  let answer: RequestListener;
  let server: Listening;
  let guarded: Guarded;

  const says = (more: object): void => {
    const good = { active: true, sub: 'reader', aud: RESOURCE, exp: now() + 600, token_type: 'Bearer', ...more };
    answer = (_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(good));
    };
  };

  beforeEach(async () => {
    says({});
    server = await listening(() => (request, response) => answer(request, response));
    const introspection = { ...LIBRARY, url: `${server.origin}/introspect`, cacheSeconds: 0 };
    guarded = await startGuarded({ issuers: [{ issuer: server.origin, audience: [RESOURCE], introspection }] });
  });

  afterEach(async () => {
    await guarded[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const list = (): Promise<RawResponse> => guarded.ask('modern', 'opaque-0123456789', 'resources/list');

  it('is checked like the claims of a JWT', async () => {
    expect((await list()).status).toBe(200);
    for (const [more, said] of [
      [{ active: false }, 'does not know the token'],
      [{ iss: 'https://elsewhere.example' }, 'not of an issuer'],
      [{ aud: undefined }, 'not for this resource'],
      [{ aud: ['https://elsewhere.example'] }, 'not for this resource'],
      [{ exp: undefined }, 'no expiry'],
      [{ exp: `${now() + 600}` }, 'no expiry'],
      [{ exp: now() - 60 }, 'has expired'],
      [{ nbf: now() + 60 }, 'not good yet'],
      [{ nbf: 'now' }, 'not good yet'],
      [{ sub: undefined }, 'no subject'],
      [{ sub: 1 }, 'no subject'],
      [{ token_type: 'refresh_token' }, 'not an access token'],
      [{ token_type: 'DPoP' }, 'bound to a key'],
      [{ cnf: { jkt: 'x' } }, 'bound to a key, and cannot'],
      [{ cnf: { 'x5t#S256': 'x' } }, 'bound to a key in a way'],
    ] as const) {
      says(more);
      const refused = await list();
      expect([more, refused.status, challengeOf(refused)]).toEqual([more, 401, expect.stringContaining(said)]);
    }
    says({ iss: server.origin, aud: ['other', RESOURCE], exp: now() - 2 });
    expect((await list()).status).toBe(200);
  });

  it.each<[string, RequestListener]>([
    ['a closed connection', (request) => request.socket.destroy()],
    ['status 500', (_request, response) => void response.writeHead(500).end()],
    ['a redirect', (_request, response) => void response.writeHead(302, { location: '/good' }).end()],
    [
      'too long',
      (_request, response) => void response.end(JSON.stringify({ active: true, more: 'x'.repeat(300_000) })),
    ],
  ])(
    'may be %s: then tokens are neither refused nor accepted, and the issuer is not asked for a while',
    async (_, broken) => {
      answer = broken;
      for (let n = 0; n < 3; n++) {
        const response = await list();
        expect([response.status, response.headers['retry-after']]).toEqual([503, '5']);
      }
      expect(server.requests).toHaveLength(1);
      says({});
      later(FAILURE_COOLDOWN_MS + 1);
      expect((await list()).status).toBe(200);
    },
  );

  it.each([
    ['no JSON', 200, 'no'],
    ['an object without a boolean', 200, '{"active":"true"}'],
    ['a list', 200, '[]'],
    ['an error about the request', 400, '{"error":"invalid_request"}'],
  ])('may be %s, which does not affect other tokens', async (_, status, text) => {
    answer = (_request, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    expect((await list()).status).toBe(503);
    says({});
    expect((await list()).status).toBe(200);
  });

  describe('while the issuer is being asked about 60 invented tokens', () => {
    const held = new Set<() => void>();
    /** The tokens that the issuer was asked about. */
    const tokens: string[] = [];
    let flood: Promise<RawResponse>[];

    beforeEach(() => {
      held.clear();
      tokens.length = 0;
      answer = async (request, response) => {
        const token = new URLSearchParams(await text(request)).get('token') ?? '';
        tokens.push(token);
        if (token.startsWith('made-up')) await new Promise<void>((resolve) => held.add(resolve));
        const good = { active: true, sub: 'reader', aud: RESOURCE, exp: now() + 600, token_type: 'Bearer' };
        response.end(JSON.stringify(token.startsWith('made-up') ? { active: false } : good));
      };
    });

    const begin = async (): Promise<void> => {
      flood = Array.from({ length: 60 }, (_, n) => guarded.ask('modern', `made-up-${n}`, 'resources/list'));
      // The issuer is asked about at most 18 tokens of one address at a time.
      await until(() => held.size === 18, 'the issuer to be asked');
    };
    const letGo = (): void => {
      for (const release of held) release();
      held.clear();
    };
    const end = async (): Promise<void> => {
      const over = Promise.all(flood);
      let ended = false;
      void over.then(() => {
        ended = true;
      });
      await until(() => {
        letGo();
        return ended;
      }, 'the flood to end');
      // A waiting request is refused for its token, not because others wait as well.
      expect((await over).map(({ status }) => status)).toEqual(flood.map(() => 401));
    };

    it.each(ERAS)('a token that was valid before is asked about at once, %s', async (era) => {
      expect((await guarded.ask(era, 'good', 'resources/read', { uri: A })).status).toBe(200);
      await begin();
      expect((await guarded.ask(era, 'good', 'resources/read', { uri: A })).status).toBe(200);
      // No answer is cached here, and no other request has an answer yet.
      expect([held.size, tokens.at(-1)]).toEqual([18, 'good']);
      await end();
    });

    it('a token from another address is asked about at once', async () => {
      await begin();
      expect(await statusFrom('127.0.0.2', guarded.serving.url, 'good')).toBe(200);
      expect(held.size).toBe(18);
      await end();
    });

    it('a token from the same address has its turn after them, and is accepted', async () => {
      await begin();
      const good = guarded.ask('modern', 'good', 'resources/list');
      await end();
      expect((await good).status).toBe(200);
    });
  });
});

/** The status of a request from this address of the machine. */
function statusFrom(localAddress: string, url: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...JSON_HEADERS,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'resources/list',
      authorization: `Bearer ${token}`,
    };
    const asking = request(url, { method: 'POST', headers, localAddress }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    asking.on('error', reject);
    asking.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/list', params: { _meta: ENVELOPE } }));
  });
}
