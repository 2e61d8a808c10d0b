/** The life of a session of 2025 over HTTP. */
import { INITIALIZED, initialize, notification, request } from '../eras.ts';
import { type HttpCase, type HttpStep, IN_SESSION } from '../http-cases.ts';

const BEGIN: readonly HttpStep[] = [
  { body: initialize(), unsaid: true },
  { body: INITIALIZED, headers: { 'mcp-session-id': '$session' }, unsaid: true },
];

const within = (body: unknown, more: HttpStep = {}): HttpStep => ({
  body,
  ...more,
  headers: { ...IN_SESSION, ...more.headers },
});
const GET: HttpStep = { method: 'GET', headers: IN_SESSION };
const DELETE: HttpStep = { method: 'DELETE', headers: IN_SESSION };
const ping = (id: unknown): object => request('ping', undefined, { id });
const call = (name: string, more: object = {}, id: unknown = 1): object =>
  request('tools/call', { name, ...more }, { id });

/** A case that begins with a session. */
const life = (name: string, ...steps: readonly HttpStep[]): HttpCase => ({ name, steps: [...BEGIN, ...steps] });
const one = (name: string, step: HttpStep): HttpCase => ({ name, steps: [step] });

/** A ping in a session, with these headers. */
const headed = (name: string, headers: HttpStep['headers'], more: HttpStep = {}): HttpCase =>
  life(name, within(ping(1), { headers: headers ?? {}, ...more }));

const begins = (name: string, params: unknown, headers: HttpStep['headers'] = {}): HttpCase =>
  one(name, { body: request('initialize', params), headers });

const CLIENT = { name: 'raw', version: '1.0.0' };
const PARAMS = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT };

export const HANDSHAKES: readonly HttpCase[] = [
  ...['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01', ''].map(
    (protocolVersion) => begins(`initialize of ${protocolVersion || 'nothing'}`, { ...PARAMS, protocolVersion }),
  ),
  begins('initialize without params', undefined),
  begins('initialize with params of an array', []),
  begins('initialize without a revision', { ...PARAMS, protocolVersion: undefined }),
  begins('initialize with a revision of a number', { ...PARAMS, protocolVersion: 1 }),
  begins('initialize without capabilities', { ...PARAMS, capabilities: undefined }),
  begins('initialize with capabilities of an array', { ...PARAMS, capabilities: [] }),
  begins('initialize with odd capabilities', { ...PARAMS, capabilities: { roots: 'x', odd: 1, sampling: { a: 1 } } }),
  begins('initialize without a client', { ...PARAMS, clientInfo: undefined }),
  begins('initialize with a client without a name', { ...PARAMS, clientInfo: { version: '1' } }),
  begins('initialize with more', { ...PARAMS, odd: 1, _meta: { progressToken: 1 } }),
  begins('initialize that accepts JSON alone', PARAMS, { accept: 'application/json' }),
  begins('initialize that accepts event streams alone', PARAMS, { accept: 'text/event-stream' }),
  begins('initialize that accepts nothing', PARAMS, { accept: undefined }),
  begins('initialize that accepts everything', PARAMS, { accept: '*/*' }),
  begins('initialize with a session that is unknown', PARAMS, { 'mcp-session-id': 'unknown' }),
  begins('initialize with an empty session', PARAMS, { 'mcp-session-id': '' }),
  begins('initialize with a revision in the header', PARAMS, { 'mcp-protocol-version': '2025-11-25' }),
  begins('initialize with another revision in the header', PARAMS, { 'mcp-protocol-version': '2025-03-26' }),
  begins('initialize with an unknown revision in the header', PARAMS, { 'mcp-protocol-version': '1999-01-01' }),
  begins('initialize with 2026 in the header', PARAMS, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'initialize',
  }),
  one('initialize as a notification', { body: notification('initialize', PARAMS) }),
  one('initialize twice at once', { body: [request('initialize', PARAMS), request('initialize', PARAMS, { id: 2 })] }),
  one('initialize with others', { body: [request('initialize', PARAMS), ping(2)] }),
  one('initialize alone in a batch', { body: [request('initialize', PARAMS)] }),
  one('initialized without a session', { body: INITIALIZED }),
  one('a request of an unknown session', { body: ping(1), headers: { 'mcp-session-id': 'unknown' } }),
  one('a request of an empty session', { body: ping(1), headers: { 'mcp-session-id': '' } }),
  one('a stream of an unknown session', { method: 'GET', headers: { 'mcp-session-id': 'unknown' } }),
  one('the end of an unknown session', { method: 'DELETE', headers: { 'mcp-session-id': 'unknown' } }),
];

export const SESSIONS: readonly HttpCase[] = [
  life('from its beginning to its end', within(ping(1)), DELETE, within(ping(2)), GET, DELETE),
  life('that is begun again', within(request('initialize', PARAMS)), within(ping(2))),
  {
    name: 'that is used before it is ready',
    steps: [{ body: initialize() }, within(request('resources/list', { uri: 'memory:///guide' }))],
  },
  {
    name: 'of an old revision',
    steps: [
      { body: initialize({}, '2025-03-26') },
      within([ping(1), ping(2)], { headers: { 'mcp-protocol-version': '2025-03-26' } }),
    ],
  },
  headed('without a revision', { 'mcp-protocol-version': undefined }),
  headed('with an empty revision', { 'mcp-protocol-version': '' }),
  headed('with an unknown revision', { 'mcp-protocol-version': '1999-01-01' }),
  headed('with another revision than was agreed on', { 'mcp-protocol-version': '2025-06-18' }),
  headed('with a revision with spaces', { 'mcp-protocol-version': '  2025-11-25 ' }),
  headed('with the revision of 2026', { 'mcp-protocol-version': '2026-07-28' }),
  headed('with two revisions', { 'mcp-protocol-version': ['2025-11-25', '2025-06-18'] }),
  headed('with two ids', { 'mcp-session-id': ['$session', 'other'] }),
  headed('with its id in capitals', { 'mcp-session-id': '$session', 'MCP-SESSION-ID': undefined }),
  headed('with Mcp-Method', { 'mcp-method': 'tools/call' }),
  headed('that accepts JSON alone', { accept: 'application/json' }),
  headed('that accepts nothing', { accept: undefined }),
  headed('that accepts everything', { accept: '*/*' }),
  headed('with another type', { 'content-type': 'text/plain' }),
  headed('with a page elsewhere', { origin: 'https://attacker.example' }),
  life(
    'whose client answers what was not asked',
    within({ jsonrpc: '2.0', id: 99, result: {} }),
    within({ jsonrpc: '2.0', id: 99, error: { code: 1, message: 'no' } }),
  ),
  life('whose client accepts nothing for a notification', within(INITIALIZED, { headers: { accept: undefined } })),
  life('with a stream', { ...GET, events: 0 }),
  life('with a stream without Accept', { ...GET, headers: { ...IN_SESSION, accept: undefined } }),
  life('with a stream of JSON', { ...GET, headers: { ...IN_SESSION, accept: 'application/json' } }),
  life('with a stream of everything', { ...GET, headers: { ...IN_SESSION, accept: '*/*' } }),
  life('with a stream of an unknown revision', {
    ...GET,
    headers: { ...IN_SESSION, 'mcp-protocol-version': '1999-01-01' },
  }),
  life('with two streams', { ...GET, after: 0 }, GET, DELETE),
  life('with a stream that the session ends', { ...GET, after: 0 }, DELETE),
  life('with a stream and a Last-Event-ID', { ...GET, headers: { ...IN_SESSION, 'last-event-id': '1' }, events: 0 }),
  life(
    'that ends with an unknown revision',
    { ...DELETE, headers: { ...IN_SESSION, 'mcp-protocol-version': '1999-01-01' } },
    within(ping(1)),
  ),
  life('that ends with a body', { ...DELETE, body: ping(1) }),
  life(
    'with an id that is in use',
    within(call('waiting', { _meta: { progressToken: 1 } }), { after: 1 }),
    within(ping(1)),
    within(ping(2)),
    within([ping(3), ping(1)]),
    DELETE,
  ),
  life('with an id that is free again', within(ping(1)), within(ping(1))),
  life(
    'with a request that is cancelled',
    within(call('waiting', { _meta: { progressToken: 1 } }), { after: 1 }),
    within(notification('notifications/cancelled', { requestId: 1, reason: 'enough' })),
    within(ping(1)),
    DELETE,
  ),
  life(
    'with a request whose client goes',
    within(call('waiting', { _meta: { progressToken: 1 } }), { events: 1 }),
    within(ping(2)),
  ),
  life(
    'that is told of what it subscribed to',
    { ...GET, after: 0, events: 1 },
    within(request('resources/subscribe', { uri: 'memory:///a.txt' })),
    within(call('change', { arguments: { path: 'a.txt' } }, 2)),
  ),
  life(
    'that is told of the list',
    { ...GET, after: 0, events: 1 },
    within(request('resources/subscribe', { uri: 'memory:///none' })),
    within(call('change', { arguments: { path: 'changes/$session.txt' } }, 2)),
  ),
  life(
    'whose client does not answer',
    { body: initialize({ roots: {} }) },
    within(call('asks-roots', {}, 7), { events: 1 }),
    DELETE,
  ),
];

/** A case in a session of this revision, for a server that lets clients resume streams. */
const revised = (name: string, revision: string, ...steps: readonly HttpStep[]): HttpCase => ({
  name,
  steps: [
    { body: initialize({}, revision), unsaid: true },
    ...steps.map((step) => ({
      ...step,
      headers: { ...IN_SESSION, 'mcp-protocol-version': revision, ...step.headers },
    })),
  ],
});
const REPORTING = call('reporting', { _meta: { progressToken: 1 } });
const back = (event: string, more: HttpStep = {}): HttpStep => ({
  method: 'GET',
  headers: { 'last-event-id': event },
  ...more,
});

export const RESUMED: readonly HttpCase[] = [
  ...['2025-03-26', '2025-06-18', '2025-11-25'].flatMap((revision) => [
    { name: `${revision}: initialize`, steps: [{ body: initialize({}, revision) }] },
    revised(`${revision}: a request`, revision, { body: ping(1) }),
    revised(`${revision}: a notification`, revision, { body: INITIALIZED }),
    revised(`${revision}: a stream`, revision, { method: 'GET', after: 0 }, { method: 'DELETE' }),
    revised(
      `${revision}: reports, and what came after the first of them`,
      revision,
      { body: REPORTING },
      back('$first'),
    ),
    revised(`${revision}: a tool that leaves`, revision, { body: call('leaving', { _meta: { progressToken: 1 } }) }),
  ]),
  revised('nothing came after the last event', '2025-11-25', { body: REPORTING }, back('$event')),
  revised('an event that is unknown', '2025-11-25', { body: ping(1) }, back('unknown')),
  revised('an empty event', '2025-11-25', { body: ping(1) }, back('', { events: 0 })),
  revised('an event of another session', '2025-11-25', back('999')),
  revised('an event, posted', '2025-11-25', { body: ping(1), headers: { 'last-event-id': '1' } }),
  revised(
    'an event, without Accept',
    '2025-11-25',
    { body: ping(1) },
    back('$first', { headers: { 'last-event-id': '$first', accept: undefined } }),
  ),
  revised('a tool that leaves, and its answer', '2025-11-25', { body: call('leaving') }, back('$first')),
];
