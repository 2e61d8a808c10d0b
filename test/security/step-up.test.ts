/**
 * A client that gets further scopes step by step arrives, or is told to stop. Vitrine itself takes a limited number of steps (RFC 6750
 * 3.1).
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuth } from '../../src/providers/upstream/auth/index.ts';
import { upstream } from '../../src/providers/upstream/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import type { Vitrine } from '../../src/vitrine.ts';
import { ERAS, type Era } from '../e2e/harness.ts';
import { until } from '../e2e/waiting.ts';
import { type Listening, listening } from '../gateway/authorization/servers.ts';
import { askerOf } from './access/asking.ts';
import { makePlace, type Place } from './access/place.ts';
import { type Issuer, RESOURCE, startIssuer } from './authorization-servers.ts';

let place: Place;
let issuer: Issuer;
let vitrine: Vitrine;
let serving: HttpServing;

beforeAll(async () => {
  place = await makePlace();
  issuer = await startIssuer();
  vitrine = place.engine({
    rules: [
      { name: 'hidden', effect: 'hide', uris: ['docs+file:///drafts/**'] },
      { name: 'old', effect: 'deny', uris: ['docs+file:///old.md'] },
      { name: 'nobody', effect: 'deny', tools: ['wipe'] },
      {
        name: 'guide',
        effect: 'allow',
        who: { scopes: ['docs:read', 'docs:write', 'docs:guide'] },
        uris: ['docs+file:///guide/**'],
      },
      { name: 'docs', effect: 'allow', who: { scopes: ['docs:read'] }, mounts: ['docs'] },
      { name: 'calls', effect: 'allow', who: { scopes: ['calls'] }, tools: ['roll', 'wipe'] },
      { name: 'board', effect: 'allow', who: { scopes: ['board'], groups: ['board'] }, mounts: ['notes'] },
    ],
  });
  serving = await serveHttp(vitrine, {
    port: 0,
    auth: { resource: RESOURCE, scopes: ['base'], issuers: [{ issuer: issuer.origin }] },
  });
});

afterAll(async () => {
  await serving.close();
  await vitrine.close();
  await place[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

interface Climbed {
  readonly rounds: number;
  readonly status: number;
  readonly text: string;
  readonly asked: readonly string[];
}

/** A client that requests every scope that a challenge names, in addition to those that it has, as long as challenges come. */
async function climb(
  era: Era,
  method: string,
  params: Readonly<Record<string, unknown>>,
  from = ['base'],
): Promise<Climbed> {
  const scopes = new Set(from);
  for (let rounds = 0; ; rounds++) {
    const ask = await askerOf(serving.url, era, await issuer.forge({ sub: 'ada', scope: [...scopes].join(' ') }));
    const { status, text, headers } = await ask(method, params);
    if (status !== 403 || rounds === 10) return { rounds, status, text, asked: [...scopes] };
    const [, scope = ''] = /scope="([^"]*)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
    const before = scopes.size;
    for (const each of scope.split(' ')) scopes.add(each);
    // A client that requests nothing new would go on for ever.
    expect(scopes.size).toBeGreaterThan(before);
  }
}

describe.each(ERAS)('in the %s era, a client that requests the scopes of each challenge', (era) => {
  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['resources/read', { uri: 'docs+file:///guide/one.md' }, 'text of one'],
    ['resources/read', { uri: 'docs+file:///a.txt' }, 'text of a'],
    ['resources/read', { uri: 'docs+file:///none.txt' }, 'not found'],
    ['resources/read', { uri: 'docs+file:///guide/none.md' }, 'not found'],
    ['tools/call', { name: 'roll', arguments: {} }, 'roll'],
  ])('succeeds after one challenge: %s %j', async (method, params, said) => {
    const { rounds, status, text } = await climb(era, method, params);
    expect([rounds, status, text]).toEqual([1, 200, expect.stringContaining(said)]);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['resources/read', { uri: 'docs+file:///old.md' }, 'is denied'],
    ['resources/read', { uri: 'docs+file:///drafts/new.md' }, 'not found'],
    ['resources/read', { uri: 'docs+file:///drafts/none.md' }, 'not found'],
    ['resources/list', { uri: 'docs+file:///drafts' }, 'not found'],
    ['resources/read', { uri: 'notes+memory:///all.txt' }, 'is denied'],
    ['resources/read', { uri: 'nowhere:x' }, 'not found'],
    ['tools/call', { name: 'wipe', arguments: {} }, 'is denied'],
    ['tools/call', { name: 'none', arguments: {} }, 'is denied'],
  ])('is told at once if no scope helps: %s %j', async (method, params, said) => {
    for (const from of [['base'], ['base', 'docs:read', 'docs:write', 'docs:guide', 'calls', 'board']]) {
      const { rounds, status, text } = await climb(era, method, params, from);
      expect([rounds, status, text]).toEqual([0, 200, expect.stringContaining(said)]);
    }
  });

  it('gets the challenge even if others, who have the scope, get a kept answer', async () => {
    const asked = ['resources/read', { uri: 'docs+file:///a.txt' }] as const;
    const [reader, base] = await Promise.all(
      ['base docs:read', 'base'].map(async (scope) =>
        askerOf(serving.url, era, await issuer.forge({ sub: 'ada', scope })),
      ),
    );
    for (let count = 0; count < 3; count++) {
      expect(await reader?.(...asked)).toMatchObject({ status: 200, text: expect.stringContaining('text of a') });
      expect(await base?.(...asked)).toMatchObject({ status: 403 });
    }
  });

  it('gets the challenge of a missing resource for a hidden one', async () => {
    for (const scope of ['base', 'base docs:read']) {
      const ask = await askerOf(serving.url, era, await issuer.forge({ sub: 'ada', scope }));
      const [hidden, missing] = await Promise.all(
        ['new', 'none'].map((name) => ask('resources/read', { uri: `docs+file:///drafts/${name}.md` })),
      );
      expect(hidden?.status).toBe(missing?.status);
      expect(hidden?.headers.get('www-authenticate')).toBe(missing?.headers.get('www-authenticate'));
      expect(JSON.stringify(hidden?.error).replaceAll('new.md', 'none.md')).toBe(JSON.stringify(missing?.error));
    }
  });
});

/** A server that accepts no token, and an authorization server that always issues one. */
async function insatiable(
  answer: (response: ServerResponse, count: number, origin: string) => void,
): Promise<Listening & { count(line: string): number }> {
  let count = 0;
  const server = await listening((origin) => (request, response) => {
    const json = (value: object, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    request.resume();
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      json({ resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['s0'] });
    else if (request.url?.startsWith('/.well-known/'))
      json({
        issuer: origin,
        token_endpoint: `${origin}/token`,
        authorization_endpoint: `${origin}/authorize`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      });
    else if (request.url === '/token')
      json({ access_token: `token-${++count}`, token_type: 'Bearer', expires_in: 3_600, scope: `s${count}` });
    else answer(response, ++count, origin);
  });
  return { ...server, count: (line) => server.requests.filter((each) => each.line === line).length };
}

describe('Vitrine and a server that is never satisfied', () => {
  it.concurrent.each<readonly [string, (response: ServerResponse, count: number, origin: string) => void]>([
    [
      'asks for more scopes each time',
      (response, count, origin) =>
        response
          .writeHead(403, {
            'www-authenticate': `Bearer error="insufficient_scope", scope="s${count}", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
          })
          .end(),
    ],
    [
      'asks for the same scope each time',
      (response) =>
        response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope", scope="s0"' }).end(),
    ],
    [
      'accepts no token',
      (response, count, origin) =>
        response
          .writeHead(401, {
            'www-authenticate': `Bearer error="invalid_token", scope="s${count}", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
          })
          .end(),
    ],
    [
      'names another place for its metadata each time',
      (response, count, origin) =>
        response
          .writeHead(401, {
            'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/${count}"`,
          })
          .end(),
    ],
    [
      'names more scopes than anybody can have',
      (response) =>
        response
          .writeHead(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${'s '.repeat(3_000)}"` })
          .end(),
    ],
  ])('that %s: Vitrine tries a few times, and says what is wrong', async (_name, answer) => {
    await using server = await insatiable(answer);
    const url = `${server.origin}/mcp`;
    const auth = createAuth(
      { type: 'client-credentials', clientId: 'a', clientSecret: 'secret-0123456789' },
      { mount: 'up', url },
    );
    const up = upstream({ name: 'up', target: { url, auth } });
    try {
      await until(() => up.health().lastError !== undefined, 'what is wrong');
      // To connect, Vitrine tries a handshake of each era. Each handshake may get one token and be tried once more.
      expect(server.count('POST /mcp')).toBeLessThan(12);
      expect(server.count('POST /token')).toBeLessThan(6);
      expect(JSON.stringify(up.health())).not.toContain('secret-0123456789');
    } finally {
      await up.provider.close?.();
    }
    const { length } = server.requests;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(server.requests).toHaveLength(length);
  });
});
