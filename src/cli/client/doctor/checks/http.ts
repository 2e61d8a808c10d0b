/** Checks of the HTTP endpoint: its answers, and the requests that it must refuse. */
import { isLoopback } from '../../../../core/hosts.ts';
import { type Data, isData } from '../../../../protocol/data.ts';
import { type Check, type CheckContext, type Finding, notApplicable, ok, problem, problems } from '../check.ts';
import { INITIALIZE } from '../wire.ts';
import { type HttpWire, JSON_HEADERS, type Reply, single } from '../wire-http.ts';

const group = 'HTTP';

const endpointOf = ({ wire }: CheckContext): HttpWire => {
  if (wire.transport !== 'http') throw new Error('This check is for HTTP');
  return wire;
};

const seenOf = ({ status, failure, text }: Reply): string =>
  status === 0
    ? (failure ?? 'no answer')
    : `HTTP ${status}${status < 400 || text === '' ? '' : ` ${text.slice(0, 100)}`}`;

const refuses = ({ status }: Reply): boolean => status >= 400 && status < 500;

/** Returns a simple request of the wire's era, which every server answers. */
function plainRequest(wire: HttpWire): { readonly method: string; readonly body: string } {
  if (wire.era === 'legacy') {
    const body = { jsonrpc: '2.0', id: 'doctor', method: 'initialize', params: INITIALIZE };
    return { method: 'initialize', body: JSON.stringify(body) };
  }
  const method = 'server/discover';
  return { method, body: JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method, params: { _meta: metaOf() } }) };
}

const metaOf = () => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INITIALIZE.clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
});

/** Sends the plain request with other headers, and ends a session that the server begins for it. */
async function sendPlain(wire: HttpWire, headers: Readonly<Record<string, string | undefined>>, bare = false) {
  const { method, body } = plainRequest(wire);
  const standard = wire.era === 'legacy' ? JSON_HEADERS : wire.headersFor(method, {});
  const reply = await wire.send({ headers: { ...standard, ...headers }, body, bare, onEvent: () => true });
  const session = single(reply.headers['mcp-session-id']);
  if (session !== undefined && session !== wire.session) {
    await wire.send({ method: 'DELETE', headers: { ...JSON_HEADERS, 'mcp-session-id': session }, bare });
  }
  return reply;
}

/** The size of a request that is larger than any server needs. */
const OVERSIZED = 16 * 1024 * 1024;

export const HTTP_CHECKS: readonly Check[] = [
  {
    id: 'http-secure',
    group,
    title: 'The connection is encrypted',
    clause: 'basic/authorization, Communication Security',
    level: 'warning',
    transport: 'http',
    async run(ctx) {
      const { url } = endpointOf(ctx);
      if (url.protocol === 'https:' || isLoopback(url.hostname)) return ok();
      return problem(
        `${url.origin} is plain HTTP`,
        'Serve HTTPS: everybody on the network path can read and change the messages.',
      );
    },
  },
  {
    id: 'http-content-type',
    group,
    title: 'Answers are JSON, or streams of events',
    clause: 'basic/transports, Streamable HTTP, Sending Messages',
    level: 'error',
    transport: 'http',
    async run(ctx) {
      const { replies } = endpointOf(ctx);
      const seen = replies
        .filter(({ of, reply }) => reply.status === 200 && !of.startsWith('notifications/'))
        .map(({ of, reply }) => `${of}: ${single(reply.headers['content-type']) ?? 'no Content-Type'}`)
        .filter((line) => !/: (?:application\/json|text\/event-stream)\s*(?:;|$)/i.test(line));
      return problems([...new Set(seen)], 'Say Content-Type: application/json or text/event-stream.');
    },
  },
  {
    id: 'http-notification',
    group,
    title: 'A notification is answered with 202 and an empty body',
    clause: 'basic/transports, Streamable HTTP, Sending Messages',
    level: 'error',
    transport: 'http',
    async run(ctx) {
      const wire = endpointOf(ctx);
      await wire.notify('notifications/vitrine/no-such-notification');
      const sent = wire.replies.filter(({ of }) => of.startsWith('notifications/'));
      const seen = sent
        .filter(({ reply }) => reply.status !== 202 || reply.text !== '')
        .map(({ of, reply }) => `${of}: ${seenOf(reply)}`);
      return problems(seen, 'Answer 202 without a body.');
    },
  },
  {
    id: 'http-origin',
    group,
    title: 'Requests from web pages of other origins are refused',
    clause: 'basic/transports, Streamable HTTP, Security Warning (Origin)',
    level: 'error',
    transport: 'http',
    async run(ctx) {
      const wire = endpointOf(ctx);
      const reply = await sendPlain(wire, { origin: 'https://vitrine-doctor.invalid' });
      if (reply.status === 403) return ok();
      // A server that other machines reach anyway, or that refuses the request for another reason, is at less risk.
      const level = isLoopback(wire.url.hostname) && !refuses(reply) ? 'error' : 'warning';
      const mend =
        'Answer 403 to an Origin that is not allowed: otherwise any web page in a browser could use the server.';
      return problem(`With Origin: https://vitrine-doctor.invalid: ${seenOf(reply)}`, mend, level);
    },
  },
  {
    id: 'http-host',
    group,
    title: 'A server on this machine refuses other host names',
    clause: 'basic/transports, Streamable HTTP, Security Warning (DNS rebinding)',
    level: 'warning',
    transport: 'http',
    async run(ctx) {
      const wire = endpointOf(ctx);
      if (!isLoopback(wire.url.hostname)) return notApplicable('The server is on another machine');
      const reply = await sendPlain(wire, { host: 'vitrine-doctor.invalid' });
      if (refuses(reply)) return ok();
      return problem(
        `With Host: vitrine-doctor.invalid: ${seenOf(reply)}`,
        'Answer 403 to a Host header with another host name.',
      );
    },
  },
  {
    id: 'http-media-type',
    group,
    title: 'A body that is not JSON is refused',
    clause: 'basic/transports, Streamable HTTP, Sending Messages',
    level: 'warning',
    transport: 'http',
    async run(ctx) {
      const reply = await sendPlain(endpointOf(ctx), { 'content-type': 'text/plain' });
      if (refuses(reply)) return ok();
      const mend = 'Answer 415: browsers let any page send text/plain to other origins.';
      return problem(`With Content-Type: text/plain: ${seenOf(reply)}`, mend);
    },
  },
  {
    id: 'http-parse-error',
    group,
    title: 'A body that cannot be parsed is refused',
    clause: 'JSON-RPC 2.0, 5.1 (-32700); basic/transports',
    level: 'error',
    transport: 'http',
    async run(ctx) {
      const wire = endpointOf(ctx);
      const reply = await wire.send({ headers: wire.headersFor(plainRequest(wire).method, {}), body: '{"jsonrpc":' });
      if (refuses(reply)) return ok();
      return problem(seenOf(reply), 'Answer 400 with the error -32700 (Parse error).');
    },
  },
  {
    id: 'http-oversized',
    group,
    title: 'A request that is far too large is refused',
    clause: 'basic/transports; RFC 9110, 15.5.14',
    level: 'warning',
    transport: 'http',
    async run(ctx) {
      const wire = endpointOf(ctx);
      const method = wire.era === 'legacy' ? 'ping' : 'server/discover';
      const _meta = { ...(wire.era === 'modern' && metaOf()), 'vitrine/doctor': 'x'.repeat(OVERSIZED) };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method, params: { _meta } });
      const reply = await wire.send({ headers: wire.headersFor(method, {}), body, onEvent: () => true });
      // Some servers close the connection while the request is being sent.
      if (reply.status === 0 || refuses(reply)) return ok(seenOf(reply).slice(0, 60));
      const mend = 'Limit the size of bodies, and answer 413: one client could use up the memory.';
      return problem(`A request of ${OVERSIZED} bytes: ${seenOf(reply)}`, mend);
    },
  },
  {
    id: 'http-get',
    group,
    title: 'GET opens a stream of events, or is refused with 405',
    clause: 'basic/transports, Streamable HTTP, Listening for Messages',
    level: 'error',
    transport: 'http',
    era: 'legacy',
    async run(ctx) {
      const wire = endpointOf(ctx);
      const { 'content-type': _, ...headers } = wire.headersFor('', {});
      const reply = await wire.send({
        method: 'GET',
        headers: { ...headers, accept: 'text/event-stream' },
        headOnly: true,
      });
      const type = single(reply.headers['content-type']) ?? '';
      if (reply.status === 405 || (reply.status === 200 && type.startsWith('text/event-stream')))
        return ok(`HTTP ${reply.status}`);
      return problem(`HTTP ${reply.status} ${type}`, 'Answer with text/event-stream, or with 405.');
    },
  },
  {
    id: 'http-session-id',
    group,
    title: 'The id of a session is valid in a header, and cannot be guessed',
    clause: 'basic/transports, Streamable HTTP, Session Management',
    level: 'error',
    transport: 'http',
    era: 'legacy',
    async run(ctx) {
      const { session } = endpointOf(ctx);
      if (session === undefined) return notApplicable('There are no sessions');
      if (!/^[\x21-\x7e]+$/.test(session))
        return problem(JSON.stringify(session), 'Use visible ASCII, from 0x21 to 0x7E.');
      if (session.length >= 16) return ok();
      return problem(
        `The id has ${session.length} characters`,
        'Use a UUID or the like, from a secure random source.',
        'warning',
      );
    },
  },
  {
    id: 'http-session-unknown',
    group,
    title: 'A request with an unknown session is refused with 404',
    clause: 'basic/transports, Streamable HTTP, Session Management',
    level: 'error',
    transport: 'http',
    era: 'legacy',
    async run(ctx) {
      const wire = endpointOf(ctx);
      if (wire.session === undefined) return notApplicable('There are no sessions');
      const headers = { ...wire.headersFor('ping', {}), 'mcp-session-id': '00000000-0000-4000-8000-000000000000' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method: 'ping' });
      const reply = await wire.send({ headers, body, onEvent: () => true });
      if (reply.status === 404) return ok();
      const mend = 'Answer 404: it tells clients to begin a new session.';
      return problem(seenOf(reply), mend, refuses(reply) ? 'warning' : 'error');
    },
  },
  {
    id: 'http-session-end',
    group,
    title: 'A session that the client has ended accepts no more requests',
    clause: 'basic/transports, Streamable HTTP, Session Management (DELETE)',
    level: 'error',
    transport: 'http',
    era: 'legacy',
    async run(ctx) {
      if (endpointOf(ctx).session === undefined) return notApplicable('There are no sessions');
      const wire = ctx.again();
      if (wire.transport !== 'http') return notApplicable('The transport is not HTTP');
      await wire.ask('initialize', INITIALIZE);
      await wire.notify('notifications/initialized');
      const ended = await wire.send({ method: 'DELETE', headers: wire.headersFor('', {}) });
      if (ended.status === 405) return ok('Clients cannot end sessions of this server');
      if (ended.status >= 300)
        return problem(`DELETE: ${seenOf(ended)}`, 'Answer 200 or 204, or 405 where clients cannot end sessions.');
      const answer = await wire.ask('ping');
      if (answer.kind === 'result')
        return problem('The session still answers after it was ended', 'Answer 404 from then on.');
      return ok();
    },
  },
  {
    id: 'http-version-header',
    group,
    title: 'A header with an unknown revision is refused',
    clause: 'basic/transports, Streamable HTTP, Protocol Version Header',
    level: 'error',
    transport: 'http',
    era: 'legacy',
    async run(ctx) {
      const wire = endpointOf(ctx);
      const headers = { ...wire.headersFor('ping', {}), 'mcp-protocol-version': '1999-01-01' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'doctor', method: 'ping' });
      const reply = await wire.send({ headers, body, onEvent: () => true });
      if (reply.status === 400) return ok();
      return problem(`With MCP-Protocol-Version: 1999-01-01: ${seenOf(reply)}`, 'Answer 400.');
    },
  },
  {
    id: 'http-header-mismatch',
    group,
    title: 'A request whose headers name another method is refused',
    clause: 'basic/transports, Streamable HTTP (2026-07-28: Mcp-Method, -32020)',
    level: 'error',
    transport: 'http',
    era: 'modern',
    async run(ctx) {
      const reply = await sendPlain(endpointOf(ctx), { 'mcp-method': 'resources/read' });
      if (reply.status === 400) return ok();
      const mend = 'Answer 400 with the error -32020: proxies look at the headers only.';
      return problem(`server/discover with Mcp-Method: resources/read: ${seenOf(reply)}`, mend);
    },
  },
  {
    id: 'http-authorization',
    group,
    title: 'A refused client learns where to get a token',
    clause: 'basic/authorization; RFC 9728',
    level: 'error',
    transport: 'http',
    async run(ctx) {
      const wire = endpointOf(ctx);
      const reply = await sendPlain(wire, {}, true);
      if (reply.status !== 401) return notApplicable('The server needs no token');
      return challengeFinding(wire, single(reply.headers['www-authenticate']));
    },
  },
];

async function challengeFinding(wire: HttpWire, challenge: string | undefined): Promise<Finding> {
  if (challenge === undefined) return problem('401 without WWW-Authenticate', MEND_CHALLENGE);
  if (!/\bbearer\b/i.test(challenge)) return problem(`WWW-Authenticate: ${challenge}`, MEND_CHALLENGE, 'warning');
  const named = /resource_metadata="([^"]+)"/i.exec(challenge)?.[1];
  const wellKnown = new URL(`/.well-known/oauth-protected-resource${wire.url.pathname.replace(/\/$/, '')}`, wire.url);
  if (named !== undefined && !URL.canParse(named, wire.url))
    return problem(`resource_metadata is ${JSON.stringify(named)}, which is no URL`, MEND_CHALLENGE);
  const at = named === undefined ? wellKnown : new URL(named, wire.url);
  // The doctor fetches nothing from another origin, because a server can name any address.
  if (at.origin !== wire.url.origin) return ok(`The metadata are at ${at.origin}, and were not checked`);
  const reply = await wire.send({ method: 'GET', at, bare: true, timeoutMs: METADATA_MS });
  if (reply.status !== 200) return problem(`${at.pathname}: ${seenOf(reply)}`, MEND_METADATA);
  const { resource, authorization_servers: servers } = metadataIn(reply);
  const seen = [
    ...(typeof resource === 'string' && wire.url.href.startsWith(resource.replace(/\/$/, ''))
      ? []
      : [`resource is ${JSON.stringify(resource)}, and the server is at ${wire.url.href}`]),
    ...(Array.isArray(servers) && servers.length > 0 ? [] : ['there are no authorization_servers']),
  ];
  return problems(seen, MEND_METADATA);
}

/** Returns the metadata of a response; empty if it has none. */
function metadataIn({ text }: Reply): Data {
  try {
    const value: unknown = JSON.parse(text);
    return isData(value) ? value : {};
  } catch {
    return {};
  }
}

const METADATA_MS = 10_000;
const MEND_CHALLENGE = 'Answer 401 with WWW-Authenticate: Bearer resource_metadata="https://...".';
const MEND_METADATA = 'Serve RFC 9728 metadata with resource (this URL) and authorization_servers.';
