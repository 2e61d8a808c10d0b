/** No principal can use the sessions, cursors, request states, subscriptions and streams of another one. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SILENT } from '../../src/core/context.ts';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { createEndpoint } from '../../src/serving/http/index.ts';
import { createVitrine } from '../../src/vitrine.ts';
import { ERAS } from '../e2e/harness.ts';
import { ENVELOPE, http, INITIALIZE, JSON_HEADERS, messageOf, type RawResponse } from '../e2e/raw.ts';
import {
  A,
  bearer,
  begin,
  CONFIRMED,
  EVERYTHING,
  type Guarded,
  hashOf,
  type Issuer,
  inSession,
  RESOURCE,
  resultOf,
  SCOPES,
  sessionHeaders,
  startGuarded,
  startIssuer,
} from './authorization-servers.ts';
import { eventsOf, tellsOf } from './events.ts';

const STATIC = 'static-token-0123456789abcdef';

let issuer: Issuer;
let guarded: Guarded;
let mine: string;
let theirs: string;

beforeEach(async () => {
  issuer = await startIssuer();
  guarded = await startGuarded({
    issuers: [{ issuer: issuer.origin }],
    tokens: [{ name: 'till', hash: hashOf(STATIC) }],
  });
  mine = await issuer.token('reader');
  theirs = await issuer.token('other');
});

afterEach(async () => {
  await guarded[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

describe('a session', () => {
  it('of another principal gets the answers of a missing one, for each HTTP method', async () => {
    const { url } = guarded.serving;
    const { session = '' } = await begin(url, mine);
    const missing = await inSession(url, crypto.randomUUID(), theirs, 'ping');
    expect(missing.status).toBe(404);
    for (const token of [theirs, STATIC]) {
      const stolen = await inSession(url, session, token, 'ping');
      expect([stolen.status, stolen.text]).toEqual([404, missing.text]);
      for (const method of ['GET', 'DELETE']) {
        const headers = { ...bearer(token), ...sessionHeaders(session), accept: 'text/event-stream' };
        expect((await http(url, { method, headers })).status).toBe(404);
      }
    }
    expect((await inSession(url, session, undefined, 'ping')).status).toBe(401);
    // The session still exists for its own principal.
    expect((await inSession(url, session, mine, 'ping')).status).toBe(200);
  });

  it('goes on with a newer token of its principal, and with the permissions of that token', async () => {
    const { url } = guarded.serving;
    const { session = '' } = await begin(url, mine);
    const narrower = await issuer.token('reader', SCOPES[0]);
    const call = { name: 'whoami', arguments: {} };
    const { content } = resultOf<{ content: [{ text: string }] }>(
      await inSession(url, session, narrower, 'tools/call', call),
    );
    expect(JSON.parse(content[0].text)).toMatchObject({ subject: 'reader', scopes: [SCOPES[0]] });
  });

  it('cannot be used with an expired token of its principal', async () => {
    const { url } = guarded.serving;
    const { session = '' } = await begin(url, mine);
    const expired = await issuer.forge({ exp: Math.floor(Date.now() / 1_000) - 60 });
    expect((await inSession(url, session, expired, 'ping')).status).toBe(401);
  });
});

describe.each(ERAS)('in the %s era', (era) => {
  const ask = (token: string, method: string, params: object = {}): Promise<RawResponse> =>
    guarded.ask(era, token, method, params);

  it('a cursor is refused from another principal [SEC-UTIL-1]', async () => {
    const { nextCursor: cursor } = resultOf(await ask(mine, 'resources/list'));
    expect(typeof cursor).toBe('string');
    expect(resultOf(await ask(mine, 'resources/list', { cursor })).resources).toHaveLength(1);
    for (const token of [theirs, STATIC]) {
      expect(messageOf(await ask(token, 'resources/list', { cursor })).error).toMatchObject({ code: -32_602 });
    }
  });

  it('the provider gets the principal, with all facts of the token', async () => {
    await ask(theirs, 'resources/read', { uri: A });
    expect(guarded.seen.at(-1)?.principal).toMatchObject({ id: `${issuer.origin}#other`, groups: ['staff', 'press'] });
  });
});

/** Calls a tool of the 2026 era, in which subscriptions by tools belong to the principal. */
async function call(token: string, name: string, args: object = {}): Promise<string> {
  return JSON.stringify(resultOf(await guarded.ask('modern', token, 'tools/call', { name, arguments: args })));
}

it('the state of a question is refused from another principal', async () => {
  const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
  const read = (token: string, more: object = {}): Promise<RawResponse> => {
    const params = { uri: CONFIRMED, _meta, ...more };
    const named = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read', 'mcp-name': CONFIRMED };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params });
    return http(guarded.serving.url, { headers: { ...JSON_HEADERS, ...named, ...bearer(token) }, body });
  };
  const { inputRequests, requestState } = resultOf<{ inputRequests: object; requestState: string }>(await read(mine));
  const [key = ''] = Object.keys(inputRequests);
  const round = { requestState, inputResponses: { [key]: { action: 'accept', content: { confirm: true } } } };
  expect(messageOf(await read(theirs, round)).error?.message).toMatch(/^The request state is not valid/);
  expect(messageOf(await read(mine, round)).error).toBeUndefined();
});

it('the subscriptions that one principal made by tools are invisible to another one', async () => {
  await call(mine, 'subscribe', { uri: A });
  expect(await call(mine, 'list_subscriptions')).toContain(A);
  expect(await call(theirs, 'list_subscriptions')).not.toContain(A);
  await call(theirs, 'unsubscribe', { uri: A });
  expect(await call(mine, 'list_subscriptions')).toContain(A);
});

it('a listen stream watches for its principal, and needs a token', async () => {
  const { url } = guarded.serving;
  const listen = async (token: string | undefined): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        ...JSON_HEADERS,
        ...bearer(token),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { _meta: ENVELOPE, notifications: { resourceSubscriptions: [A] } },
      }),
    });
  const refused = await listen(undefined);
  expect(refused.status).toBe(401);
  await refused.text();
  expect(guarded.seen).toEqual([]);
  const streams = [eventsOf(await listen(mine)), eventsOf(await listen(theirs))];
  for (const stream of streams) {
    const acknowledges = (message: object): boolean => JSON.stringify(message).includes('acknowledged');
    await stream.until(acknowledges, 'the acknowledgement');
  }
  const watched = guarded.seen.map(({ operation, principal }) => [operation, principal.subject]);
  expect(watched).toEqual([
    ['watch', 'reader'],
    ['watch', 'other'],
  ]);
  guarded.set('a.txt', 'changed');
  for (const stream of streams) {
    await stream.until(tellsOf(A), 'the update');
    await stream.cancel();
  }
});

describe('an endpoint that is told the principal of each request', () => {
  it('ignores tokens, and keeps principals apart all the same', async () => {
    const provider = memoryProvider({ resources: { 'a.txt': { text: 'a' } } });
    const vitrine = createVitrine({ mounts: [{ name: 'docs', provider, prefix: 'none' }], access: EVERYTHING });
    const endpoint = createEndpoint(vitrine, {
      auth: { resource: RESOURCE, tokens: [{ name: 'till', hash: hashOf(STATIC) }] },
      log: SILENT,
    });
    const ask = (principal: string | undefined, message: object, headers: object = {}): Promise<Response> => {
      const init = {
        method: 'POST',
        headers: { host: '127.0.0.1', ...JSON_HEADERS, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
      };
      const given = principal === undefined ? {} : { principal: { id: principal } };
      return endpoint.fetch(new Request('http://127.0.0.1/mcp', init), given);
    };
    const handshake = { method: 'initialize', params: INITIALIZE };
    expect((await ask(undefined, handshake)).status).toBe(401);
    const begun = await ask('me', handshake);
    expect(begun.status).toBe(200);
    await begun.text();
    const session = sessionHeaders(begun.headers.get('mcp-session-id') ?? '');
    expect((await ask('me', { method: 'ping' }, session)).status).toBe(200);
    expect((await ask('you', { method: 'ping' }, session)).status).toBe(404);
    await endpoint.close();
    await vitrine.close();
  });
});
