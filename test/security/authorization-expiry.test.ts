/** Streams end with the token that they were opened with, unless a newer one of the same principal came meanwhile. */
import { expect, it } from 'vitest';
import { CLOCK_SKEW_S } from '../../src/serving/auth/claims.ts';
import { ENVELOPE, JSON_HEADERS } from '../e2e/raw.ts';
import { until, within } from '../e2e/waiting.ts';
import {
  A,
  bearer,
  begin,
  inSession,
  resultOf,
  sessionHeaders,
  startGuarded,
  startIssuer,
} from './authorization-servers.ts';
import { type EventStream, eventsOf, tellsOf } from './events.ts';

/** For how long the short tokens are good once they are made, in seconds: enough to open some streams with them. */
const SHORT_S = 5;

async function opened(url: string, token: string, init: RequestInit): Promise<EventStream> {
  const response = await fetch(url, { ...init, headers: { ...init.headers, ...bearer(token) } });
  expect(response.status).toBe(200);
  return eventsOf(response);
}

const listening = (url: string, token: string): Promise<EventStream> => {
  const params = { _meta: ENVELOPE, notifications: { resourceSubscriptions: [A] } };
  const method = 'subscriptions/listen';
  const headers = { ...JSON_HEADERS, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method };
  return opened(url, token, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
};

/** The stream of a 2025-era session that has subscribed to a resource. */
async function inNewSession(url: string, token: string): Promise<{ session: string; stream: EventStream }> {
  const { session = '' } = await begin(url, token);
  resultOf(await inSession(url, session, token, 'resources/subscribe', { uri: A }));
  const headers = { accept: 'text/event-stream', ...sessionHeaders(session) };
  return { session, stream: await opened(url, token, { headers }) };
}

it('streams of both eras end with their token, and a session goes on with a newer one', async () => {
  await using issuer = await startIssuer();
  await using guarded = await startGuarded({ issuers: [{ issuer: issuer.origin }] });
  const { url } = guarded.serving;
  const long = await issuer.token('reader');
  const lasting = await listening(url, long);
  const short = await issuer.forge({ client_id: 'reader', exp: Date.now() / 1_000 - CLOCK_SKEW_S + SHORT_S });
  const others = await issuer.forge({ sub: 'other', exp: Date.now() / 1_000 - CLOCK_SKEW_S + SHORT_S });
  const [modern, legacy, renewed] = await Promise.all([
    listening(url, others),
    inNewSession(url, short),
    inNewSession(url, short),
  ]);
  expect([...guarded.watched].sort()).toEqual(['other', 'reader']);
  resultOf(await inSession(url, renewed.session, long, 'ping'));

  await within(Promise.all([modern.ended, legacy.stream.ended]), 'the end of the streams');
  // None of them was told of it as of an end in order: the client comes back, and is asked for a new token.
  expect(modern.messages.map((message) => 'method' in message && message.method)).toEqual([
    'notifications/subscriptions/acknowledged',
  ]);
  await until(() => !guarded.watched.has('other'), 'the end of the watch');
  await until(async () => (await inSession(url, legacy.session, short, 'ping')).status === 401, 'the refusal');

  guarded.set('a.txt', 'changed');
  for (const stream of [lasting, renewed.stream]) {
    await stream.until(tellsOf(A), 'the update');
    await stream.cancel();
  }
  // The session itself is still there for its principal: it can have a stream again.
  resultOf(await inSession(url, legacy.session, long, 'ping'));
  const headers = { accept: 'text/event-stream', ...sessionHeaders(legacy.session) };
  const again = await opened(url, long, { headers });
  guarded.set('a.txt', 'changed again');
  await again.until(tellsOf(A), 'the update');
  await again.cancel();
});
