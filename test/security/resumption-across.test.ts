/** Only the owner of a session can get its earlier events again (Streamable HTTP, `Last-Event-ID`). */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryProvider } from '../../src/providers/memory/index.ts';
import { type HttpServing, serveHttp } from '../../src/serving/http/index.ts';
import { createVitrine, type Vitrine } from '../../src/vitrine.ts';
import { within } from '../e2e/waiting.ts';
import {
  bearer,
  begin,
  EVERYTHING,
  hashOf,
  type Issuer,
  inSession,
  RESOURCE,
  sessionHeaders,
  startIssuer,
} from './authorization-servers.ts';

const tokenOf = (name: string): string => `${name}-token-0123456789abcdef`;
const TOKENS = ['ada', 'bob'].map((name) => ({ name, hash: hashOf(tokenOf(name)) }));
const ADA = tokenOf('ada');
const BOB = tokenOf('bob');
const URIS = ['memory:///a.txt', 'memory:///b.txt'] as const;

let issuer: Issuer;
let provider: ReturnType<typeof memoryProvider>;
let vitrine: Vitrine;
let serving: HttpServing;

const serve = (): Promise<HttpServing> =>
  serveHttp(vitrine, {
    port: 0,
    resume: { retryMs: 5 },
    auth: { resource: RESOURCE, tokens: TOKENS, issuers: [{ issuer: issuer.origin }] },
  });

beforeEach(async () => {
  issuer = await startIssuer();
  provider = memoryProvider({ resources: { 'a.txt': { text: 'a' }, 'b.txt': { text: 'b' } } });
  vitrine = createVitrine({
    access: EVERYTHING,
    mounts: [{ name: 'docs', provider, prefix: 'none' }],
    changes: { coalesceMs: 5 },
  });
  serving = await serve();
});

afterEach(async () => {
  await serving.close();
  await vitrine.close();
  await issuer[Symbol.asyncDispose]();
});

interface Stream {
  readonly status: number;
  /** Reads on until this text has come. Gives everything that has come by then. */
  until(text: string): Promise<string>;
  stop(): void;
}

/** Opens the stream of a session, or resumes one. */
async function stream(session: string, token: string | undefined, last?: string, at = serving): Promise<Stream> {
  const gone = new AbortController();
  const response = await within(
    fetch(at.url, {
      signal: gone.signal,
      headers: {
        accept: 'text/event-stream',
        ...bearer(token),
        ...sessionHeaders(session),
        ...(last !== undefined && { 'last-event-id': last }),
      },
    }),
    'an answer to GET',
  );
  let text = '';
  const reader = response.body?.getReader();
  return {
    status: response.status,
    async until(wanted) {
      while (!text.includes(wanted)) {
        if (reader === undefined) break;
        const next = await within(reader.read(), wanted);
        if (next.done) break;
        text += Buffer.from(next.value).toString();
      }
      return text;
    },
    stop: () => gone.abort(),
  };
}

/** A session that has received notices of a change, and the ids of these events. */
async function told(
  token: string,
  uri: string,
): Promise<{ readonly session: string; readonly ids: readonly string[] }> {
  const { session = '' } = await begin(serving.url, token);
  const open = await stream(session, token);
  expect((await inSession(serving.url, session, token, 'resources/subscribe', { uri })).status).toBe(200);
  provider.set(uri.slice('memory:///'.length), { text: randomUUID() });
  const text = await open.until(uri);
  open.stop();
  const ids = [...text.matchAll(/^id: (\S+)$/gm)].map(([, id = '']) => id);
  expect(ids.length).toBeGreaterThan(0);
  return { session, ids };
}

const FORGED = [
  '',
  '0',
  '-1',
  '999999',
  '1.0',
  '01',
  '0x1',
  '1e0',
  ' 1',
  '1 ',
  '+1',
  '__proto__',
  'constructor',
  '*',
  '../1',
  '%31',
  'null',
  '9'.repeat(4_000),
  '1,2',
];

describe('a resumed stream', () => {
  it('is given to its own session, from the event on', async () => {
    const { session, ids } = await told(ADA, URIS[0]);
    // This change happens while no client is connected.
    provider.set('a.txt', { text: randomUUID() });
    const again = await stream(session, ADA, ids[0]);
    expect(again.status).toBe(200);
    provider.set('a.txt', { text: randomUUID() });
    expect(await again.until(URIS[0])).toContain('notifications/resources/updated');
    again.stop();
  });

  it('does not exist for another principal, or without one, whatever the id', async () => {
    const { session, ids } = await told(ADA, URIS[0]);
    for (const last of [...ids, undefined, ...FORGED.slice(1, 4)]) {
      expect((await stream(session, BOB, last)).status).toBe(404);
      expect((await stream(session, undefined, last)).status).toBe(401);
      expect((await stream(session, 'a-token-that-is-not-good', last)).status).toBe(401);
    }
    expect((await stream(session, ADA, ids[0])).status).toBe(200);
  });

  it('does not exist for another application of the same user', async () => {
    const claims = { sub: 'ada', scope: 'docs:read' };
    const trusted = await issuer.forge({ ...claims, client_id: 'trusted' });
    const other = await issuer.forge({ ...claims, client_id: 'other' });
    const { session, ids } = await told(trusted, URIS[0]);
    expect((await stream(session, other, ids[0])).status).toBe(404);
    expect((await stream(session, other)).status).toBe(404);
    expect((await inSession(serving.url, session, other, 'resources/list')).status).toBe(404);
    // A newer token of the application that began the session is accepted.
    const newer = await issuer.forge({ ...claims, client_id: 'trusted', jti: 'newer' });
    expect((await inSession(serving.url, session, newer, 'resources/list')).status).toBe(200);
  });

  it('gives nothing of another session for the ids of that session', async () => {
    const ada = await told(ADA, URIS[0]);
    const bob = await told(BOB, URIS[1]);
    const more = await told(ADA, URIS[1]);
    for (const [{ session }, token, own] of [
      [bob, BOB, URIS[1]],
      [more, ADA, URIS[1]],
    ] as const) {
      for (const last of [...ada.ids, '1', '2', '3', '4', '5']) {
        const open = await stream(session, token, last);
        if (open.status === 200) {
          provider.set('b.txt', { text: randomUUID() });
          expect(await open.until(own)).not.toContain(URIS[0]);
        } else expect(open.status).toBe(400);
        open.stop();
      }
    }
  });

  it.each(FORGED.map((id) => [id.slice(0, 20), id] as const))(
    'exists only for an id of its session: %j',
    async (_shown, last) => {
      const { session, ids } = await told(ADA, URIS[0]);
      const open = await stream(session, ADA, last);
      // White space around a header has no meaning, and an empty id is no id.
      const meant = last.trim() === '' || ids.includes(last.trim());
      expect(open.status).toBe(meant || last.trim() === '1' ? 200 : 400);
      open.stop();
      expect((await inSession(serving.url, session, ADA, 'resources/list')).status).toBe(200);
    },
  );

  it('ends with its session', async () => {
    const { session, ids } = await told(ADA, URIS[0]);
    const ended = await fetch(serving.url, {
      method: 'DELETE',
      headers: { ...bearer(ADA), ...sessionHeaders(session) },
    });
    expect(ended.status).toBe(200);
    for (const last of [...ids, undefined]) expect((await stream(session, ADA, last)).status).toBe(404);
  });

  it('ends with the server, also for a new session with the same ids', async () => {
    const { session, ids } = await told(ADA, URIS[0]);
    await serving.close();
    serving = await serve();
    for (const last of [...ids, undefined]) expect((await stream(session, ADA, last)).status).toBe(404);
    const { session: fresh = '' } = await begin(serving.url, ADA);
    for (const last of ids) {
      const open = await stream(fresh, ADA, last);
      expect([200, 400]).toContain(open.status);
      if (open.status === 200) {
        expect((await inSession(serving.url, fresh, ADA, 'resources/subscribe', { uri: URIS[1] })).status).toBe(200);
        provider.set('b.txt', { text: randomUUID() });
        expect(await open.until(URIS[1])).not.toContain(URIS[0]);
      }
      open.stop();
    }
  });

  it.each([
    '',
    '*',
    '0',
    '../',
    'null',
    'undefined',
    '__proto__',
    '00000000-0000-4000-8000-000000000000',
    'a'.repeat(1_000),
  ])('does not exist for an invented id: %.20s', async (id) => {
    await told(ADA, URIS[0]);
    const { status } = await stream(id, ADA, '1');
    expect([400, 404]).toContain(status);
    expect([400, 404]).toContain((await inSession(serving.url, id, ADA, 'resources/list')).status);
  });
});
