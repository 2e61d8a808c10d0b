/** The form of a request over HTTP: its method, path, and the headers about its body. */
import { envelope, request } from '../eras.ts';
import { type HttpCase, type HttpStep, IN_SESSION, steps } from '../http-cases.ts';
import { MAX_REQUEST_BYTES } from '../scene.ts';

const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/list' };

/** A plain request of 2026. */
const BODY = request('resources/templates/list', { _meta: envelope() });
const LIST: HttpStep = { headers: { ...MODERN, 'mcp-method': 'resources/templates/list' }, body: BODY };

const listed = (headers: HttpStep['headers'], more: HttpStep = {}): HttpStep => ({
  ...LIST,
  ...more,
  headers: { ...LIST.headers, ...headers },
});

const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

export const HTTP_METHODS: readonly HttpCase[] = steps({
  ...Object.fromEntries(
    ['GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'QUERY', 'get', 'FOO'].map((method) => [
      `${method}, without a session`,
      { method },
    ]),
  ),
  'PUT with a body': listed({}, { method: 'PUT' }),
  'GET of 2026': { method: 'GET', headers: MODERN },
  'DELETE of 2026': { method: 'DELETE', headers: MODERN },
  'GET with a body': { method: 'GET', body: BODY },
  'another path': listed({}, { path: '/other' }),
  'the root': listed({}, { path: '/' }),
  'a slash behind the path': listed({}, { path: '/mcp/' }),
  'the path in capitals': listed({}, { path: '/MCP' }),
  'a query': listed({}, { path: '/mcp?a=1' }),
  'a path with dots': listed({}, { path: '/a/../mcp' }),
  'an encoded path': listed({}, { path: '/%6dcp' }),
  health: { method: 'GET', path: '/healthz' },
  readiness: { method: 'GET', path: '/readyz' },
  'health, posted': { method: 'POST', path: '/healthz', body: '' },
  metrics: { method: 'GET', path: '/metrics' },
  'metadata of authorization': { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp' },
});

export const FORMS: readonly HttpCase[] = steps({
  'a plain request': LIST,
  'no Accept': listed({ accept: undefined }),
  'Accept of JSON alone': listed({ accept: 'application/json' }),
  'Accept of event streams alone': listed({ accept: 'text/event-stream' }),
  'Accept of everything': listed({ accept: '*/*' }),
  'Accept of nothing': listed({ accept: '' }),
  'Accept of HTML': listed({ accept: 'text/html' }),
  'Accept with weights': listed({ accept: 'text/event-stream;q=0.5, application/json;q=0' }),
  'Accept in capitals': listed({ accept: 'APPLICATION/JSON, TEXT/EVENT-STREAM' }),
  'Accept twice': listed({ accept: ['application/json', 'text/event-stream'] }),
  'no Content-Type': listed({ 'content-type': undefined }),
  'Content-Type of text': listed({ 'content-type': 'text/plain' }),
  'Content-Type of nothing': listed({ 'content-type': '' }),
  'Content-Type of JSON with a suffix': listed({ 'content-type': 'application/vnd.api+json' }),
  'Content-Type of JSON in text': listed({ 'content-type': 'text/json' }),
  'Content-Type that begins like JSON': listed({ 'content-type': 'application/json-seq' }),
  'Content-Type in capitals': listed({ 'content-type': 'Application/JSON' }),
  'Content-Type with JSON behind': listed({ 'content-type': 'text/plain; a=application/json' }),
  'Content-Type twice': listed({ 'content-type': ['application/json', 'text/plain'] }),
  'charset utf-8': listed({ 'content-type': 'application/json; charset=utf-8' }),
  'charset UTF8 in quotes': listed({ 'content-type': 'application/json;charset="UTF8"' }),
  'charset of something else': listed({ 'content-type': 'application/json; charset=iso-8859-1' }),
  'charset utf-16': listed({ 'content-type': 'application/json; charset=utf-16' }),
  'charset of nothing': listed({ 'content-type': 'application/json; charset=' }),
  'another parameter': listed({ 'content-type': 'application/json; odd=1' }),
  'Content-Encoding identity': listed({ 'content-encoding': 'identity' }),
  'Content-Encoding of nothing': listed({ 'content-encoding': '' }),
  'Content-Encoding gzip': listed(
    { 'content-encoding': 'gzip' },
    { body: Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0) },
  ),
  'Content-Encoding gzip of plain JSON': listed({ 'content-encoding': 'gzip' }),
  'Content-Encoding unknown': listed({ 'content-encoding': 'odd' }),
  'in chunks': listed({ 'transfer-encoding': 'chunked' }, { body: chunked(JSON.stringify(BODY)) }),
  'in broken chunks': listed({ 'transfer-encoding': 'chunked' }, { body: 'zz\r\n{}\r\n0\r\n\r\n' }),
  'in chunks that are too large': listed(
    { 'transfer-encoding': 'chunked' },
    { body: chunked(' '.repeat(MAX_REQUEST_BYTES + 1)) },
  ),
  'in chunks and with a length': listed({ 'transfer-encoding': 'chunked', 'content-length': '5' }),
  'the largest body': listed({}, { body: JSON.stringify(BODY).padEnd(MAX_REQUEST_BYTES) }),
  'a body that is too large': listed({}, { body: JSON.stringify(BODY).padEnd(MAX_REQUEST_BYTES + 1) }),
  'a length that is too large, and no body': listed({ 'content-length': '99999999' }, { body: '' }),
  'a length that is none': listed({ 'content-length': 'x' }),
  'no length': listed({ 'content-length': undefined }),
  'an empty body': listed({}, { body: '' }),
  'no body': { headers: LIST.headers ?? {} },
  'an Expect': listed({ expect: '100-continue' }),
  'another Expect': listed({ expect: 'odd' }),
  'an Upgrade': listed({ connection: 'upgrade', upgrade: 'websocket' }),
});

export const HOSTS: readonly HttpCase[] = steps({
  'no Host': listed({ host: undefined }),
  'Host of nothing': listed({ host: '' }),
  'Host localhost': listed({ host: 'localhost' }),
  'Host localhost with a port': listed({ host: 'localhost:1' }),
  'Host in capitals': listed({ host: 'LOCALHOST' }),
  'Host of another address': listed({ host: '192.0.2.1' }),
  'Host of an IPv6 address': listed({ host: '[::1]:80' }),
  'Host of a name': listed({ host: 'attacker.example' }),
  'Host of a name that begins like localhost': listed({ host: 'localhost.attacker.example' }),
  'Host with a user': listed({ host: 'a@localhost' }),
  'Host with a path': listed({ host: 'localhost/a' }),
  'Host with a space': listed({ host: 'local host' }),
  'Host twice': listed({ host: ['localhost', 'attacker.example'] }),
  'Host with a port that is none': listed({ host: 'localhost:x' }),
  'X-Forwarded-Host': listed({ 'x-forwarded-host': 'attacker.example' }),
  'Origin of a page elsewhere': listed({ origin: 'https://attacker.example' }),
  'Origin null': listed({ origin: 'null' }),
  'Origin of nothing': listed({ origin: '' }),
  'Origin of this machine': listed({ origin: 'http://localhost:3000' }),
  'Origin of this address': listed({ origin: 'http://127.0.0.1' }),
  'Origin that begins like this machine': listed({ origin: 'http://localhost.attacker.example' }),
  'Origin of a file': listed({ origin: 'file://' }),
  'Origin of an extension': listed({ origin: 'chrome-extension://abc' }),
  'Origin with a path': listed({ origin: 'http://localhost/a' }),
  'Origin of no URL': listed({ origin: 'odd' }),
  'Host of a name, with GET': { method: 'GET', headers: { host: 'attacker.example' } },
  'Host of a name, with OPTIONS': { method: 'OPTIONS', headers: { host: 'attacker.example' } },
  'Origin elsewhere, with DELETE': { method: 'DELETE', headers: { origin: 'https://attacker.example' } },
});

/** For a server that accepts pages of one origin, and has one host name. */
export const ALLOWED = { origins: ['https://app.example'], hosts: ['vitrine.example'] } as const;

const preflight = (headers: HttpStep['headers']): HttpStep => ({
  method: 'OPTIONS',
  headers: { 'content-type': undefined, accept: undefined, 'access-control-request-method': 'POST', ...headers },
});

export const PAGES: readonly HttpCase[] = steps({
  'no Origin': LIST,
  'Origin that is allowed': listed({ origin: 'https://app.example' }),
  'Origin that is allowed, in capitals': listed({ origin: 'HTTPS://APP.EXAMPLE' }),
  'Origin that is allowed, with its port': listed({ origin: 'https://app.example:443' }),
  'Origin of another port': listed({ origin: 'https://app.example:444' }),
  'Origin of another scheme': listed({ origin: 'http://app.example' }),
  'Origin elsewhere': listed({ origin: 'https://attacker.example' }),
  'Origin of this machine': listed({ origin: 'http://localhost:3000' }),
  'Host that is allowed': listed({ host: 'vitrine.example' }),
  'Host that is allowed, and its Origin': listed({ host: 'vitrine.example', origin: 'https://vitrine.example' }),
  'Host that is not allowed': listed({ host: 'attacker.example', origin: 'https://app.example' }),
  'a preflight': preflight({ origin: 'https://app.example', 'access-control-request-headers': 'content-type' }),
  'a preflight for arguments in headers': preflight({
    origin: 'https://app.example',
    'access-control-request-headers': 'mcp-param-region, mcp-param-, x-other',
  }),
  'a preflight of a page elsewhere': preflight({ origin: 'https://attacker.example' }),
  'a preflight without an Origin': preflight({}),
  'a refusal to a page': listed({ origin: 'https://app.example', 'content-type': 'text/plain' }),
  'a stream to a page': {
    headers: { origin: 'https://app.example' },
    body: request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'page', version: '1' },
    }),
  },
});

export const REVISIONS: readonly HttpCase[] = steps({
  'no MCP-Protocol-Version, with the envelope': listed({ 'mcp-protocol-version': undefined }),
  'MCP-Protocol-Version unknown': listed({ 'mcp-protocol-version': '1999-01-01' }),
  'MCP-Protocol-Version of nothing': listed({ 'mcp-protocol-version': '' }),
  'MCP-Protocol-Version of 2025': listed({ 'mcp-protocol-version': '2025-11-25' }),
  'MCP-Protocol-Version with spaces': listed({ 'mcp-protocol-version': ' 2026-07-28 ' }),
  'MCP-Protocol-Version with a space within': listed({ 'mcp-protocol-version': '2026-07 -28' }),
  'MCP-Protocol-Version twice': listed({ 'mcp-protocol-version': ['2026-07-28', '2026-07-28'] }),
  'MCP-Protocol-Version of 2026, without the envelope': {
    headers: { ...MODERN },
    body: request('resources/list'),
  },
  'MCP-Protocol-Version of 2026, of a notification': {
    headers: { ...MODERN, 'mcp-method': 'notifications/initialized' },
    body: { jsonrpc: '2.0', method: 'notifications/initialized' },
  },
  'nothing of any revision': { body: request('resources/list') },
  'a ping of no revision': { body: request('ping') },
  'Mcp-Session-Id with the envelope': listed({ 'mcp-session-id': 'some' }),
  'no Mcp-Method': listed({ 'mcp-method': undefined }),
  'Mcp-Method of nothing': listed({ 'mcp-method': '' }),
  'Mcp-Method of another': listed({ 'mcp-method': 'resources/read' }),
  'Mcp-Method in capitals': listed({ 'mcp-method': 'RESOURCES/TEMPLATES/LIST' }),
  'Mcp-Method with spaces': listed({ 'mcp-method': '  resources/templates/list  ' }),
  'Mcp-Method encoded': listed({
    'mcp-method': `=?base64?${Buffer.from('resources/templates/list').toString('base64')}?=`,
  }),
  'Mcp-Method twice': listed({ 'mcp-method': ['resources/templates/list', 'resources/templates/list'] }),
  'Mcp-Method of an unknown method': {
    headers: { ...MODERN, 'mcp-method': 'odd' },
    body: request('odd', { _meta: envelope() }),
  },
  'Mcp-Name where none is needed': listed({ 'mcp-name': 'odd' }),
});

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

const read = (headers: HttpStep['headers'], uri = 'memory:///picture.png'): HttpStep => ({
  headers: { ...MODERN, 'mcp-method': 'resources/read', ...headers },
  body: request('resources/read', { uri, _meta: envelope() }),
});

const called = (name: string, args: object, headers: HttpStep['headers']): HttpStep => ({
  headers: { ...MODERN, 'mcp-method': 'tools/call', 'mcp-name': name, ...headers },
  body: request('tools/call', { name, arguments: args, _meta: envelope() }),
});

const routed = (args: object, headers: HttpStep['headers']): HttpStep => called('routed', args, headers);

export const NAMES: readonly HttpCase[] = steps({
  'Mcp-Name as it is': read({ 'mcp-name': 'memory:///picture.png' }),
  'no Mcp-Name': read({}),
  'Mcp-Name of nothing': read({ 'mcp-name': '' }),
  'Mcp-Name of another': read({ 'mcp-name': 'memory:///a.txt' }),
  'Mcp-Name with spaces': read({ 'mcp-name': '  memory:///picture.png ' }),
  'Mcp-Name in another case': read({ 'mcp-name': 'MEMORY:///picture.png' }),
  'Mcp-Name encoded': read({ 'mcp-name': encoded('memory:///picture.png') }),
  'Mcp-Name encoded, of another': read({ 'mcp-name': encoded('memory:///a.txt') }),
  'Mcp-Name in broken base64': read({ 'mcp-name': '=?base64?%%%?=' }),
  'Mcp-Name in base64 of no UTF-8': read({ 'mcp-name': `=?base64?${Buffer.of(0xff).toString('base64')}?=` }),
  'Mcp-Name in base64 of nothing': read({ 'mcp-name': '=?base64??=' }),
  'Mcp-Name in another encoding': read({ 'mcp-name': '=?hex?6d?=' }),
  'Mcp-Name in capitals of base64': read({
    'mcp-name': `=?BASE64?${Buffer.from('memory:///picture.png').toString('base64')}?=`,
  }),
  'Mcp-Name twice': read({ 'mcp-name': ['memory:///picture.png', 'memory:///picture.png'] }),
  'Mcp-Name of a URI beyond ASCII, encoded': read(
    { 'mcp-name': encoded('memory:///guide/%C3%BC%20b.md') },
    'memory:///guide/%C3%BC%20b.md',
  ),
  'Mcp-Name of bytes beyond ASCII': read({ 'mcp-name': 'memory:///\u00fc' }, 'memory:///ü'),
  'no Mcp-Name of a tool': called('echo', { text: 'a' }, { 'mcp-name': undefined }),
  'Mcp-Name of another tool': called('echo', { text: 'a' }, { 'mcp-name': 'typed' }),
  'Mcp-Name of a tool, encoded': called('echo', { text: 'a' }, { 'mcp-name': encoded('echo') }),
  'Mcp-Name of a prompt that differs': {
    headers: { ...MODERN, 'mcp-method': 'prompts/get', 'mcp-name': 'other' },
    body: request('prompts/get', { name: 'greet', arguments: { who: 'Ada' }, _meta: envelope() }),
  },
  'Mcp-Param as it is': routed(
    { region: 'eu', shard: 1, dry: true },
    {
      'mcp-param-region': 'eu',
      'mcp-param-shard': '1',
      'mcp-param-dry': 'true',
    },
  ),
  'Mcp-Param encoded': routed({ region: 'ü' }, { 'mcp-param-region': encoded('ü') }),
  'Mcp-Param in broken base64': routed({ region: 'ü' }, { 'mcp-param-region': '=?base64?%?=' }),
  'Mcp-Param missing': routed({ region: 'eu' }, {}),
  'Mcp-Param without its argument': routed({}, { 'mcp-param-region': 'eu' }),
  'Mcp-Param of an argument that is null': routed({ region: null }, { 'mcp-param-region': 'eu' }),
  'Mcp-Param that differs': routed({ region: 'eu' }, { 'mcp-param-region': 'us' }),
  'Mcp-Param of a number, written otherwise': routed({ shard: 1 }, { 'mcp-param-shard': '1.0' }),
  'Mcp-Param of a number that is none': routed({ shard: 1 }, { 'mcp-param-shard': 'one' }),
  'Mcp-Param of an argument of the wrong type': routed({ region: [1] }, { 'mcp-param-region': 'eu' }),
  'Mcp-Param with spaces': routed({ region: 'eu' }, { 'mcp-param-region': '  eu  ' }),
  'Mcp-Param that no tool has': routed({}, { 'mcp-param-odd': '1' }),
  'Mcp-Param of an unknown tool': called('unknown', {}, { 'mcp-param-region': 'eu' }),
  'Mcp-Param in a session': {
    headers: { ...IN_SESSION, 'mcp-session-id': 'none', 'mcp-param-region': 'us' },
    body: request('tools/call', { name: 'routed', arguments: { region: 'eu' } }),
  },
});
