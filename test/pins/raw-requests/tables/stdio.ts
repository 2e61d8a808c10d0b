/** Conversations over standard input and output: their beginnings, and invalid lines. */
import { envelope, INITIALIZED, initialize, META, notification, request, textIn } from '../eras.ts';
import type { StdioCase, StdioStep } from '../stdio-cases.ts';
import { ENVELOPE } from './envelope.ts';

const modern = (method: string, params: object = {}, id: unknown = 1, meta: object = {}): StdioStep => ({
  say: request(method, { ...params, _meta: { ...envelope({ elicitation: {} }), ...meta } }, { id }),
});
const legacy = (method: string, params?: object, id: unknown = 1): StdioStep => ({
  say: request(method, params, { id }),
});
const silent = (say: unknown): StdioStep => ({ say, lines: 0 });

const DISCOVER = modern('server/discover', {}, 'discover');
const TEMPLATES = modern('resources/templates/list', {}, 'templates');
const PING = legacy('ping', undefined, 'ping');
const OLD_TEMPLATES = legacy('resources/templates/list', undefined, 'templates');
const INITIALIZE: StdioStep = { say: initialize() };
const READY = silent(INITIALIZED);
const cancel = (requestId: unknown, meta?: object): StdioStep =>
  silent(notification('notifications/cancelled', { requestId, ...(meta && { _meta: meta }) }));

const talk = (name: string, ...steps: readonly StdioStep[]): StdioCase => ({ name, steps });
const inModern = (name: string, ...steps: readonly StdioStep[]): StdioCase => talk(`2026: ${name}`, DISCOVER, ...steps);
const inLegacy = (name: string, ...steps: readonly StdioStep[]): StdioCase =>
  talk(`2025: ${name}`, INITIALIZE, READY, ...steps);

const WAITING = { name: 'waiting', _meta: { progressToken: 'w' } };
const JSON_PING = JSON.stringify(PING.say);

/** Longer than the longest line, which has 10 MiB. */
const TOO_LONG = `${JSON.stringify(request('ping', { odd: 'x'.repeat(10 * 1024 * 1024) }))}\n`;

export const BEGINNINGS: readonly StdioCase[] = [
  talk('discover first', DISCOVER, TEMPLATES),
  talk('a request of 2026 first', TEMPLATES, DISCOVER),
  talk('initialize first', INITIALIZE, READY, OLD_TEMPLATES),
  talk('initialize of 2025-03-26 first', { say: initialize({}, '2025-03-26') }, READY, PING),
  talk('initialize of 2026-07-28 first', { say: initialize({}, '2026-07-28') }, READY, PING),
  talk('initialize of an unknown revision first', { say: initialize({}, '1.0') }, READY, PING),
  talk('initialize without params first', legacy('initialize'), INITIALIZE, PING),
  talk('initialize with odd params first', legacy('initialize', { protocolVersion: 1 }), INITIALIZE, PING),
  talk('ping first', PING, INITIALIZE, PING),
  talk('ping first, then 2026', PING, TEMPLATES),
  talk('a request of 2025 first', OLD_TEMPLATES, INITIALIZE),
  talk(
    'a request of an unknown revision first',
    modern('resources/list', {}, 1, { [META.revision]: '1999-01-01' }),
    TEMPLATES,
  ),
  talk(
    'a request without capabilities first',
    modern('resources/templates/list', {}, 1, { [META.capabilities]: undefined }),
    TEMPLATES,
  ),
  talk(
    'a request without a client first',
    modern('resources/templates/list', {}, 1, { [META.client]: undefined }),
    TEMPLATES,
  ),
  talk('an unknown method of 2026 first', modern('odd'), TEMPLATES),
  talk('initialized first', READY, INITIALIZE, PING),
  talk('a notification first', silent(notification('notifications/unknown')), TEMPLATES),
  talk('a response first', silent({ jsonrpc: '2.0', id: 1, result: {} }), TEMPLATES),
  talk('garbage first, then 2026', silent('garbage\n'), TEMPLATES),
  talk('garbage first, then 2025', silent('garbage\n'), INITIALIZE, PING),
  talk('an empty line first', silent('\n'), TEMPLATES),
  talk('a batch first', silent([request('ping')]), TEMPLATES),
  talk('no id first', silent({ jsonrpc: '2.0', method: 'resources/list' }), TEMPLATES),
  talk('a line that is too long first', silent(TOO_LONG), TEMPLATES),
  talk('nothing'),
];

/** Every envelope in the first message, which decides on the era. */
export const FIRST: readonly StdioCase[] = ENVELOPE.map(({ name, messages: [message] }) =>
  talk(name, { say: `${textIn('modern', message)}\n` }),
);

export const CONVERSATIONS: readonly StdioCase[] = [
  inModern('initialize', INITIALIZE, TEMPLATES),
  inModern('a request without an envelope', OLD_TEMPLATES, TEMPLATES),
  inModern('a ping', PING, TEMPLATES),
  inModern('another revision', modern('resources/list', {}, 1, { [META.revision]: '1999-01-01' }), TEMPLATES),
  inModern('a revision of 2025', modern('resources/list', {}, 1, { [META.revision]: '2025-11-25' }), TEMPLATES),
  inModern('a subscription of 2025', legacy('resources/subscribe', { uri: 'memory:///a.txt' }), TEMPLATES),
  inModern('a call that is cancelled', modern('tools/call', WAITING, 1, { progressToken: 'w' }), cancel(1), TEMPLATES),
  inModern(
    'a call that is cancelled, with an envelope',
    modern('tools/call', WAITING, 1, { progressToken: 'w' }),
    cancel(1, envelope()),
    TEMPLATES,
  ),
  inModern(
    'a call whose id comes again',
    modern('tools/call', WAITING, 1, { progressToken: 'w' }),
    modern('resources/templates/list'),
    cancel(1),
    TEMPLATES,
  ),
  inModern('cancelled, of nothing', cancel(77), cancel('x'), cancel({}), TEMPLATES),
  inModern(
    'listening',
    modern('subscriptions/listen', { notifications: { resourceSubscriptions: ['memory:///a.txt'] } }),
    { ...modern('tools/call', { name: 'change', arguments: { path: 'a.txt' } }, 2), lines: 2 },
    TEMPLATES,
  ),
  inModern(
    'listening, and cancelled',
    modern('subscriptions/listen', { notifications: { resourcesListChanged: true } }),
    cancel(1),
    TEMPLATES,
  ),
  inModern(
    'listening twice with one id',
    modern('subscriptions/listen', { notifications: { resourcesListChanged: true } }),
    modern('subscriptions/listen', { notifications: { resourcesListChanged: true } }),
    TEMPLATES,
  ),
  inModern(
    'listening with odd filters',
    modern('subscriptions/listen', { notifications: 'x' }),
    modern('subscriptions/listen', {}),
    TEMPLATES,
  ),
  inLegacy('initialize again', INITIALIZE, PING),
  inLegacy('initialized again', READY, PING),
  inLegacy('a request of 2026', TEMPLATES, PING),
  inLegacy('discover', DISCOVER, PING),
  inLegacy(
    'a request of an unknown revision',
    modern('resources/list', {}, 1, { [META.revision]: '1999-01-01' }),
    PING,
  ),
  inLegacy('a call that is cancelled', { say: request('tools/call', WAITING) }, cancel(1), PING),
  inLegacy('a call whose id comes again', { say: request('tools/call', WAITING) }, legacy('ping'), cancel(1), PING),
  inLegacy('cancelled, of nothing', cancel(77), cancel('x'), cancel({}), PING),
  inLegacy('a response to nothing', silent({ jsonrpc: '2.0', id: 5, result: {} }), PING),
  inLegacy('an error to nothing', silent({ jsonrpc: '2.0', id: 5, error: { code: 1, message: 'no' } }), PING),
  inLegacy(
    'a subscription, and a change',
    legacy('resources/subscribe', { uri: 'memory:///a.txt' }),
    { ...legacy('tools/call', { name: 'change', arguments: { path: 'a.txt' } }, 2), lines: 2 },
    legacy('resources/unsubscribe', { uri: 'memory:///a.txt' }, 3),
    legacy('tools/call', { name: 'change', arguments: { path: 'a.txt' } }, 4),
    PING,
  ),
  inLegacy(
    'unsubscribed from what it did not subscribe to',
    legacy('resources/unsubscribe', { uri: 'memory:///a.txt' }),
  ),
  inLegacy(
    'a subscription twice',
    legacy('resources/subscribe', { uri: 'memory:///a.txt' }),
    legacy('resources/subscribe', { uri: 'memory:///a.txt' }, 2),
  ),
  talk('2025: a request before it is ready', INITIALIZE, OLD_TEMPLATES, READY, PING),
];

/** `server/discover` does not decide on the era; another request of 2026 does. */
const decided = (name: string, ...steps: readonly StdioStep[]): StdioCase =>
  talk(`2026, decided: ${name}`, TEMPLATES, ...steps, DISCOVER);

export const DECIDED: readonly StdioCase[] = [
  decided('initialize', INITIALIZE, READY),
  decided('a request without an envelope', OLD_TEMPLATES),
  decided('a request without params', legacy('resources/list')),
  decided('a ping', PING),
  decided('an unknown method without an envelope', legacy('odd')),
  decided('a subscription of 2025', legacy('resources/subscribe', { uri: 'memory:///a.txt' })),
  decided('a level of 2025', legacy('logging/setLevel', { level: 'info' })),
  decided('another revision', modern('resources/list', {}, 1, { [META.revision]: '1999-01-01' })),
  decided('a client that is missing', modern('resources/templates/list', {}, 1, { [META.client]: undefined })),
  decided(
    'capabilities that are missing',
    modern('resources/templates/list', {}, 1, { [META.capabilities]: undefined }),
  ),
  decided('initialized', READY),
  decided('garbage', silent('garbage\n')),
  decided('a batch', silent([request('ping')])),
  decided('a response', silent({ jsonrpc: '2.0', id: 5, result: {} })),
  decided('a call that is cancelled', modern('tools/call', WAITING, 1, { progressToken: 'w' }), cancel(1)),
];

/** Lines, in either era. */
const lines = (name: string, ...steps: readonly StdioStep[]): readonly StdioCase[] => [
  inModern(name, ...steps, TEMPLATES),
  inLegacy(name, ...steps, PING),
];

export const LINES: readonly StdioCase[] = [
  ...lines('an empty line', silent('\n')),
  ...lines('garbage', silent('garbage\n')),
  ...lines('JSON that breaks off', silent('{"jsonrpc":"2.0","id":1,\n')),
  ...lines('bytes that are not UTF-8', {
    say: Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', 'latin1'),
  }),
  ...lines('a line that is too long', silent(TOO_LONG)),
  ...lines('a line in pieces', silent('{"jsonrpc":"2.0","id":1,'), { say: '"method":"ping"}\n' }),
  ...lines('a line that ends with a carriage return', { say: `${JSON_PING}\r\n` }),
  ...lines('several lines at once', { say: `${JSON_PING}\n${JSON_PING.replace('"ping"', '"pong"')}\n`, lines: 2 }),
  ...lines('a line with a header', silent(`Content-Length: ${JSON_PING.length}\r\n\r\n`), { say: `${JSON_PING}\n` }),
  ...lines('a character that comes in two pieces', silent(Buffer.from('{"jsonrpc":"2.0","id":"\xc3', 'latin1')), {
    say: Buffer.from('\xbc","method":"ping"}\n', 'latin1'),
  }),
  inLegacy('a last line without an end', silent(JSON_PING)),
  inModern('a last line without an end', silent(JSON.stringify(TEMPLATES.say))),
];
