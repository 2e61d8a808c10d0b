/** Streams end when the token expires with which they were opened, unless the principal sent a newer one meanwhile. */
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

/** The lifetime of the short tokens, in seconds: enough to open some streams with them. */
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

/** The stream of a session of the 2025 era that has subscribed to a resource. */
async function inNewSession(url: string, token: string): Promise<{ session: string; stream: EventStream }> {
  const { session = '' } = await begin(url, token);
  resultOf(await inSession(url, session, token, 'resources/subscribe', { uri: A }));
  const headers = { accept: 'text/event-stream', ...sessionHeaders(session) };
  return { session, stream: await opened(url, token, { headers }) };
}

it('streams of both eras end when their token expires, and a session goes on with a newer token', async () => {
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
  // The streams ended without a farewell, so the client connects again, and is asked for a new token.
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
  // The session still exists for its principal, who can open another stream.
  resultOf(await inSession(url, legacy.session, long, 'ping'));
  const headers = { accept: 'text/event-stream', ...sessionHeaders(legacy.session) };
  const again = await opened(url, long, { headers });
  guarded.set('a.txt', 'changed again');
  await again.until(tellsOf(A), 'the update');
  await again.cancel();
});
