/** The endpoint without a network: several requests of several principals, one after the other or at once. */
import fc from 'fast-check';
import { within } from '../../e2e/waiting.ts';
import { checkAnswers, checkMessage, checkSecrets, cut, Finding, idsOf } from '../oracles.ts';
import { cursorsOf, type Place, PRINCIPALS, principalOf, type Who } from '../place.ts';
import { asked, bodyOf, type FuzzedRequest, headersOf } from '../requests.ts';
import type { Target } from './target.ts';

const URL_ = 'http://127.0.0.1/mcp';
/** The statuses that an answer may have. */
const STATUSES: ReadonlySet<number> = new Set([200, 202, 400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 429]);

export function endpointTarget(place: Place): Target {
  return {
    name: 'endpoint',
    share: 0.8,
    property: fc.asyncProperty(
      fc.array(asked(cursorsOf(place)), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (all, together) => run(place, all, together),
    ),
  };
}

async function run(place: Place, all: readonly FuzzedRequest[], together: boolean): Promise<void> {
  const sessions = new Map<Who, string>();
  for (const who of PRINCIPALS) {
    if (all.some((each) => each.era === 'legacy' && needs(each, who))) sessions.set(who, await begin(place, who));
  }
  const one = (each: FuzzedRequest): Promise<void> => exchange(place, each, sessionFor(each, sessions));
  try {
    if (together) await Promise.all(all.map(one));
    else for (const each of all) await one(each);
  } finally {
    for (const [who, session] of sessions) await end(place, who, session);
  }
}

const otherThan = (who: Who): Who => (who === 'mine' ? 'theirs' : 'mine');
const needs = ({ who, session }: FuzzedRequest, of: Who): boolean =>
  (session === 'own' && who === of) || (session === 'other' && otherThan(who) === of);

function sessionFor({ who, era, session }: FuzzedRequest, sessions: ReadonlyMap<Who, string>): string | undefined {
  if (era === 'modern' || session === 'none') return undefined;
  if (session === 'made-up') return '00000000-0000-4000-8000-000000000000';
  return sessions.get(session === 'own' ? who : otherThan(who));
}

const JSON_TYPES = {
  host: '127.0.0.1',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

async function begin(place: Place, who: Who): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'fuzzer', version: '1.0.0' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const principal = principalOf(who);
  const request = new Request(URL_, { method: 'POST', headers: JSON_TYPES, body });
  const response = await within(place.endpoint.fetch(request, { principal }), 'the handshake');
  const session = response.headers.get('mcp-session-id');
  await response.text();
  if (session === null) throw new Finding(`no session was given: ${response.status}`);
  return session;
}

async function end(place: Place, who: Who, session: string): Promise<void> {
  const headers = { ...JSON_TYPES, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  const request = new Request(URL_, { method: 'DELETE', headers });
  const response = await within(place.endpoint.fetch(request, { principal: principalOf(who) }), 'the end of a session');
  await response.body?.cancel();
}

async function exchange(place: Place, it: FuzzedRequest, session: string | undefined): Promise<void> {
  const body = it.method === 'GET' || it.method === 'HEAD' ? undefined : bodyOf(it);
  const headers = headersOf(it, session);
  const sent = new Request(URL_, {
    method: it.method,
    headers,
    ...(body !== undefined && { body }),
  });
  const response = await within(place.endpoint.fetch(sent, { principal: principalOf(it.who) }), 'the response');
  if (!STATUSES.has(response.status)) throw new Finding(`status ${response.status}: ${cut(await response.text())}`);
  const spoken = body ?? '';
  const said = JSON.stringify([...headers]) + spoken + decodedStrings(spoken);
  checkSecrets(place, it.who, JSON.stringify([...response.headers]), said);
  const stream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (it.method !== 'POST') {
    if (stream) return void (await response.body?.cancel());
    checkSecrets(place, it.who, await within(response.text(), 'the body'), said);
    return;
  }
  const parsed = parse(spoken);
  const expected = response.status === 200 ? idsOf(parsed) : undefined;
  const listens = says(spoken, parsed, 'subscriptions/listen');
  const text = stream
    ? await events(response, expected?.length ?? 0, listens)
    : await within(response.text(), 'the body');
  checkSecrets(place, it.who, text, said);
  if (response.status === 202) {
    if (text !== '') throw new Finding(`202 with a body: ${cut(text)}`);
    return;
  }
  const messages = messagesIn(text, stream).map((each) => checkMessage(each, said));
  if (response.status !== 200) {
    if (messages.length !== 1 || messages[0]?.error === undefined)
      throw new Finding(`${response.status} without an error: ${cut(text)}`);
    return;
  }
  // In the 2025 era a cancelled request is not answered.
  const cancels = says(spoken, parsed, 'notifications/cancelled');
  if (expected !== undefined && !listens && !cancels) checkAnswers(messages, expected);
}

/** Whether a word is in a message, in whatever escapes. */
const says = (spoken: string, parsed: unknown, word: string): boolean =>
  spoken.includes(word) || (spoken.includes('\\') && JSON.stringify(parsed ?? null).includes(word));

/**
 * The events of a stream: up to the first one if it listens, else up to the last expected answer; if none is expected, all of
 * them.
 */
async function events(response: Response, expected: number, listens: boolean): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const enough = listens ? 1 : expected;
      if (enough > 0 && messagesIn(text, true).filter((each) => listens || !('method' in each)).length >= enough)
        return text;
      const next = await within(reader?.read() ?? Promise.reject(new Error('no body')), 'the next event of a stream');
      if (next.done) return text;
      text += next.value;
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

function messagesIn(text: string, stream: boolean): object[] {
  const texts = stream ? [...text.matchAll(/^data: ([^\n]+)\n/gm)].map((match) => match[1] ?? '') : [text];
  return texts.flatMap((each) => {
    const parsed = parse(each);
    if (parsed === undefined) throw new Finding(`not JSON: ${cut(each)}`);
    return (Array.isArray(parsed) ? parsed : [parsed]) as object[];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the body of a request with escaped backslashes unescaped, because an error may repeat its strings in its own escapes.
 */
const decodedStrings = (body: string): string => body.replaceAll('\\\\', '\\');
