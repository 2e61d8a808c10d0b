/** Every method of both eras with right parameters, and each with wrong ones. */
import { request } from '../eras.ts';
import { cases, type MessageCase } from '../messages.ts';

const A = 'memory:///a.txt';
const PICTURE = 'memory:///picture.png';
const GUIDE = 'memory:///guide';
const TEMPLATE = 'memory:///{+path}';

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } };

/** The right parameters of each method. */
const GOOD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  initialize: INITIALIZE,
  'server/discover': {},
  ping: {},
  'logging/setLevel': { level: 'info' },
  'resources/list': { uri: GUIDE },
  'resources/read': { uri: A },
  'resources/templates/list': {},
  'resources/metadata': { uri: A },
  'resources/directory/read': { uri: GUIDE },
  'resources/subscribe': { uri: A },
  'resources/unsubscribe': { uri: A },
  'tools/list': {},
  'tools/call': { name: 'echo', arguments: { text: 'a' } },
  'prompts/list': {},
  'prompts/get': { name: 'greet', arguments: { who: 'Ada' } },
  'completion/complete': { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'A' } },
};

export const METHODS: readonly MessageCase[] = [
  ...cases(Object.fromEntries(Object.entries(GOOD).map(([method, params]) => [method, request(method, params)]))),
  ...cases({
    'resources/list of everything': request('resources/list'),
    'resources/list of a resource': request('resources/list', { uri: A }),
    'resources/list of nothing': request('resources/list', { uri: 'memory:///none' }),
    'resources/list of another scheme': request('resources/list', { uri: 'other:///' }),
    'resources/list of no URI': request('resources/list', { uri: 'no uri' }),
    'resources/list with a foreign cursor': request('resources/list', { cursor: 'AAAA' }),
    'resources/list with an empty cursor': request('resources/list', { cursor: '' }),
    'resources/read of bytes': request('resources/read', { uri: PICTURE }),
    'resources/read of a folder': request('resources/read', { uri: GUIDE }),
    'resources/read of a name beyond ASCII': request('resources/read', { uri: 'memory:///guide/ü b.md' }),
    'resources/read of nothing': request('resources/read', { uri: 'memory:///none' }),
    'resources/read of a URI with dots': request('resources/read', { uri: 'memory:///guide/../a.txt' }),
    'resources/read of no URI': request('resources/read', { uri: '' }),
    'resources/read of a URI with control characters': request('resources/read', { uri: 'memory:///a\u0000\n' }),
    'resources/read of a URI that is too long': request('resources/read', { uri: `memory:///${'x'.repeat(10_000)}` }),
    'resources/read with an odd range': request('resources/read', {
      uri: A,
      _meta: { 'vitrine/range': { offset: -1 } },
    }),
    'resources/metadata of a folder': request('resources/metadata', { uri: GUIDE }),
    'resources/metadata of nothing': request('resources/metadata', { uri: 'memory:///none' }),
    'resources/directory/read of a resource': request('resources/directory/read', { uri: A }),
    'resources/directory/read of nothing': request('resources/directory/read', { uri: 'memory:///none' }),
    'resources/subscribe to nothing': request('resources/subscribe', { uri: 'memory:///none' }),
    'tools/call of an unknown tool': request('tools/call', { name: 'unknown' }),
    'tools/call of a name of the prototype': request('tools/call', { name: '__proto__' }),
    'tools/call of an empty name': request('tools/call', { name: '' }),
    'tools/call without arguments': request('tools/call', { name: 'echo' }),
    'tools/call with wrong arguments': request('tools/call', { name: 'echo', arguments: { text: 1, times: 0 } }),
    'tools/call with unknown arguments': request('tools/call', { name: 'echo', arguments: { text: 'a', odd: 1 } }),
    'tools/call that fails': request('tools/call', { name: 'failing' }),
    'tools/call of what breaks its promise': request('tools/call', {
      name: 'typed',
      arguments: { value: { sum: 'x' } },
    }),
    'tools/call of what keeps its promise': request('tools/call', { name: 'typed', arguments: { value: { sum: 1 } } }),
    'tools/call of a resource tool: list': request('tools/call', { name: 'list', arguments: {} }),
    'tools/call of a resource tool: read': request('tools/call', { name: 'read', arguments: { uri: PICTURE } }),
    'tools/call of a resource tool: list_resources': request('tools/call', { name: 'list_resources', arguments: {} }),
    'tools/call of a resource tool: read_resource': request('tools/call', {
      name: 'read_resource',
      arguments: { uri: A },
    }),
    'tools/call with a task': request('tools/call', { name: 'echo', arguments: { text: 'a' }, task: { ttl: 1_000 } }),
    'tools/call with a task of a text': request('tools/call', { name: 'echo', arguments: { text: 'a' }, task: 'x' }),
    'tools/call with a task of null': request('tools/call', { name: 'echo', arguments: { text: 'a' }, task: null }),
    'prompts/get of an unknown prompt': request('prompts/get', { name: 'unknown' }),
    'prompts/get of a name of the prototype': request('prompts/get', { name: 'constructor' }),
    'prompts/get without what is required': request('prompts/get', { name: 'greet', arguments: { how: 'Hi' } }),
    'prompts/get with what is unknown': request('prompts/get', { name: 'greet', arguments: { who: 'a', odd: 'b' } }),
    'prompts/get with control characters': request('prompts/get', { name: 'greet', arguments: { who: 'a\u0000' } }),
    'completion/complete of a template': request('completion/complete', {
      ref: { type: 'ref/resource', uri: TEMPLATE },
      argument: { name: 'path', value: 'gui' },
    }),
    'completion/complete of an unknown template': request('completion/complete', {
      ref: { type: 'ref/resource', uri: 'other:///{a}' },
      argument: { name: 'a', value: '' },
    }),
    'completion/complete of an unknown prompt': request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'unknown' },
      argument: { name: 'a', value: '' },
    }),
    'completion/complete of an unknown argument': request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'unknown', value: '' },
    }),
    'completion/complete of an unknown kind': request('completion/complete', {
      ref: { type: 'ref/other', name: 'greet' },
      argument: { name: 'who', value: '' },
    }),
    'completion/complete with an odd context': request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: '' },
      context: { arguments: { how: 1 } },
    }),
    'logging/setLevel of an unknown level': request('logging/setLevel', { level: 'loud' }),
    'initialize of 2024-11-05': request('initialize', { ...INITIALIZE, protocolVersion: '2024-11-05' }),
    'initialize of 2026-07-28': request('initialize', { ...INITIALIZE, protocolVersion: '2026-07-28' }),
    'initialize of an unknown revision': request('initialize', { ...INITIALIZE, protocolVersion: '1.0' }),
    'tasks/get': request('tasks/get', { taskId: 'a' }),
    'tasks/list': request('tasks/list'),
    'tasks/result': request('tasks/result', { taskId: 'a' }),
    'tasks/cancel': request('tasks/cancel', { taskId: 'a' }),
    'roots/list': request('roots/list'),
    'sampling/createMessage': request('sampling/createMessage', { messages: [], maxTokens: 1 }),
    'elicitation/create': request('elicitation/create', { message: 'a', requestedSchema: {} }),
    'completion/unknown': request('completion/unknown'),
    'rpc.discover': request('rpc.discover'),
  }),
  {
    name: 'resources/list, and its second page',
    messages: [request('resources/list'), request('resources/list', { cursor: '$cursor' }, { id: 2 })],
  },
  {
    name: 'a cursor of another method',
    messages: [request('resources/list'), request('tools/list', { cursor: '$cursor' }, { id: 2 })],
  },
  {
    name: 'a cursor of another folder',
    messages: [request('resources/list'), request('resources/list', { uri: GUIDE, cursor: '$cursor' }, { id: 2 })],
  },
];

/** Subscriptions of 2026 are streams that begin with an acknowledgement. */
const listening = (
  named: Readonly<Record<string, unknown>>,
  more: Pick<MessageCase, 'events' | 'lines'> = {},
): readonly MessageCase[] =>
  cases(
    Object.fromEntries(
      Object.entries(named).map(([name, notifications]) => [name, request('subscriptions/listen', { notifications })]),
    ),
    { eras: ['modern'], ...more },
  );

export const LISTENING: readonly MessageCase[] = [
  ...listening(
    {
      'to the list': { resourcesListChanged: true },
      'to all lists': { resourcesListChanged: true, promptsListChanged: true, toolsListChanged: true },
      'to a resource': { resourceSubscriptions: [A] },
      'to a resource twice': { resourceSubscriptions: [A, A] },
      'to a resource, and what is not there': { resourceSubscriptions: [A, 'memory:///none', 'no uri', ''] },
      'to the list, and what is unknown': { resourcesListChanged: true, odd: true },
    },
    { events: 1 },
  ),
  ...listening(
    {
      'to nothing': {},
      'to what is not there': { resourceSubscriptions: ['memory:///none', 'no uri', ''] },
      'to what is unknown': { odd: true, resourceSubscriptions: [] },
      'to a list of false': { resourcesListChanged: false },
    },
    { lines: 1 },
  ),
  ...listening({
    'to null': null,
    'to an array': [],
    'to a text': 'all',
    'to what is missing': undefined,
    'to a list of a text': { resourcesListChanged: 'yes' },
    'to resources of a text': { resourceSubscriptions: A },
    'to resources of numbers': { resourceSubscriptions: [1] },
  }),
  ...cases({ 'in the other era': request('subscriptions/listen', { notifications: {} }) }, { eras: ['legacy'] }),
];

/** Gives wrong values for a parameter with this right value. */
const wrongFor = (right: unknown): readonly (readonly [name: string, value: unknown])[] => [
  ['missing', undefined],
  ['null', null],
  ['an array', ['x']],
  typeof right === 'object' ? ['a text', 'x'] : ['a number', 1],
];

const EXTRA: Readonly<Record<string, readonly string[]>> = {
  'resources/list': ['cursor'],
  'resources/templates/list': ['cursor'],
  'resources/directory/read': ['cursor'],
  'tools/list': ['cursor'],
  'prompts/list': ['cursor'],
  'completion/complete': ['context'],
  ping: ['_meta'],
};

/** Each parameter of each method with each wrong type, and an additional parameter. */
export const PARAMETERS: readonly MessageCase[] = Object.entries(GOOD).flatMap(([method, params]) =>
  cases({
    ...Object.fromEntries(
      [...Object.keys(params), ...(EXTRA[method] ?? [])].flatMap((name) =>
        wrongFor(params[name]).map(([what, value]) => [
          `${method}: ${name} is ${what}`,
          request(method, { ...params, [name]: value }),
        ]),
      ),
    ),
    [`${method}: a parameter more`]: request(method, { ...params, odd: { a: 1 } }),
    [`${method}: no params`]: request(method),
  }),
);
