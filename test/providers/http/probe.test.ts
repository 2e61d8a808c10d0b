/** A typed URL is probed: it is an MCP server or a resource of the web. In doubt it is taken for a server. */
import { expect, it } from 'vitest';
import { isWebResource } from '../../../src/config/kinds/http-probe.ts';
import { type Answer, content, JSON_TYPE, startSite } from './site.ts';

const PAGE = content('<!doctype html><h1>Hello</h1>', { 'content-type': 'text/html' });
const rpc =
  (message: object, status = 200, more: Record<string, string> = {}): Answer =>
  (_request, response) =>
    response.writeHead(status, { ...JSON_TYPE, ...more }).end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }));

/** Answers each HTTP method in its own way. */
const by =
  (answers: Readonly<Record<string, Answer>>, otherwise = 405): Answer =>
  (request, response) => {
    const answer = answers[request.method ?? ''];
    if (answer === undefined) response.writeHead(otherwise).end();
    else answer(request, response);
  };

const plain =
  (status: number, headers: Record<string, string> = {}, text = ''): Answer =>
  (_request, response) =>
    response.writeHead(status, headers).end(text);

/** Answers only the handshake of the 2025 era, and refuses everything else with its own text. */
const LEGACY: Answer = (request, response) => {
  if (request.headers['mcp-method'] !== 'initialize') plain(400, {}, 'Bad Request')(request, response);
  else rpc({ result: { protocolVersion: '2025-06-18' } }, 200, { 'mcp-session-id': 'abc' })(request, response);
};

it.each<[string, Answer, boolean]>([
  ['a page', by({ GET: PAGE, HEAD: PAGE }), true],
  ['a page that answers to anything', PAGE, true],
  ['JSON that is no message', content('{"a":1}', JSON_TYPE), true],
  ['a page that has moved', by({ GET: plain(301, { location: '/elsewhere' }) }), true],
  [
    'an API that refuses messages',
    by({ GET: content('{}', JSON_TYPE), POST: plain(422, JSON_TYPE, '{"error":"no"}') }),
    true,
  ],
  ['a server that answers server/discover', by({ POST: rpc({ result: {} }) }), false],
  [
    'a server that refuses in the protocol',
    by({ GET: PAGE, POST: rpc({ error: { code: -32601, message: 'x' } }, 400) }),
    false,
  ],
  ['a server of the 2025 era', by({ GET: PAGE, POST: LEGACY, DELETE: plain(200) }), false],
  [
    'a server that answers in a stream',
    by({ GET: PAGE, POST: plain(200, { 'content-type': 'text/event-stream' }) }),
    false,
  ],
  [
    'a server that wants a token',
    by({ GET: PAGE, POST: plain(401, { 'www-authenticate': 'Bearer resource_metadata="https://x.example/"' }) }),
    false,
  ],
  ['a URL that requires credentials', plain(401), false],
  ['a missing page', plain(404), false],
  ['a server that fails', plain(500), false],
  ['a stream', by({ GET: plain(200, { 'content-type': 'text/event-stream' }) }), false],
])('takes %s for a web resource: $2', async (_what, answer, expected) => {
  await using site = await startSite(answer);
  expect(await isWebResource(`${site.origin}/at`)).toBe(expected);
  expect(site.asked.length).toBeLessThanOrEqual(3);
});

it('leaves no session behind', async () => {
  await using site = await startSite(by({ POST: LEGACY, DELETE: plain(200) }));
  expect(await isWebResource(`${site.origin}/mcp`)).toBe(false);
  const last = site.asked.at(-1);
  expect([last?.method, last?.headers['mcp-session-id']]).toEqual(['DELETE', 'abc']);
});

it.each([301, 302, 303, 307, 308])(
  'does not send a session to another server to which a redirect with %i leads',
  async (status) => {
    await using other = await startSite(plain(200));
    const elsewhere = plain(status, { location: `${other.origin}/elsewhere` });
    await using site = await startSite(by({ POST: LEGACY, DELETE: elsewhere }));
    expect(await isWebResource(`${site.origin}/mcp`)).toBe(false);
    expect(site.asked.at(-1)?.method).toBe('DELETE');
    expect(other.asked).toEqual([]);
  },
);

it('takes a URL that cannot be reached, or does not answer, for a server that may come up', async () => {
  const site = await startSite(() => {});
  expect(await isWebResource(`${site.origin}/`, 100)).toBe(false);
  await site.close();
  expect(await isWebResource(`${site.origin}/`)).toBe(false);
});
