/** Calls: odd results of tools, tools that ask questions, and tools that report progress. */
import { META, request } from '../eras.ts';
import { cases, type MessageCase } from '../messages.ts';
import { RESULTS } from '../tools.ts';

const call = (name: string, more: object = {}, id = 1): object => request('tools/call', { name, ...more }, { id });

export const RESULT_SHAPES: readonly MessageCase[] = cases(
  Object.fromEntries(Object.keys(RESULTS).map((name) => [name, call(`gives.${name}`)])),
);

const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };
const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'hello' }, model: 'm' };
const ROOTS = { roots: [{ uri: 'file:///home' }] };
const REPLIES = {
  'elicitation/create': { result: ACCEPTED },
  'sampling/createMessage': { result: SAMPLED },
  'roots/list': { result: ROOTS },
};
const ABLE = { elicitation: {}, sampling: {}, roots: {} };

const ASKING = ['asks-name', 'asks-model', 'asks-roots', 'asks-url', 'asks-all'];

/** A call of a tool that asks, by a client that declares everything and answers with `REPLIES`. `more` changes this. */
const answered = (name: string, tool: string, more: Partial<MessageCase>): MessageCase => ({
  name,
  messages: [call(tool)],
  capabilities: ABLE,
  replies: REPLIES,
  ...more,
});

/** A second round of 2026, with the state of the first. */
const again = (name: string, inputResponses: unknown, more: object = {}, tool = 'asks-name'): MessageCase => ({
  name,
  messages: [call(tool), call(tool, { inputResponses, requestState: '$state', ...more }, 2)],
  eras: ['modern'],
  capabilities: ABLE,
});

export const QUESTIONS: readonly MessageCase[] = [
  ...ASKING.map((tool) => ({ name: `${tool}, of a client that cannot`, messages: [call(tool)] })),
  ...ASKING.map((tool) => answered(`${tool}, of a client that can`, tool, {})),
  answered('elicitation by URL, of a client that can', 'asks-url', { capabilities: { elicitation: { url: {} } } }),
  answered('elicitation by form, of a client of URLs', 'asks-name', { capabilities: { elicitation: { url: {} } } }),
  answered('elicitation by form, of a client of forms', 'asks-name', { capabilities: { elicitation: { form: {} } } }),
  answered('a client that declines', 'asks-name', {
    replies: { 'elicitation/create': { result: { action: 'decline' } } },
  }),
  answered('a client that answers with an error', 'asks-name', {
    replies: { 'elicitation/create': { error: { code: -32_000, message: 'no' } } },
  }),
  answered('a client that answers oddly', 'asks-name', {
    replies: { 'elicitation/create': { result: { action: 7 } } },
  }),
  answered('a client that answers with nothing', 'asks-model', {
    replies: { 'sampling/createMessage': { result: {} } },
  }),
  answered('a client whose roots are odd', 'asks-roots', { replies: { 'roots/list': { result: { roots: 'x' } } } }),
  { ...answered('a prompt that asks', '', {}), messages: [request('prompts/get', { name: 'asks-first' })] },
  {
    name: 'a prompt that asks, of a client that cannot',
    messages: [request('prompts/get', { name: 'asks-first' })],
  },
];

export const ROUNDS: readonly MessageCase[] = [
  again('answers', { name: ACCEPTED }),
  again('answers to everything', { name: ACCEPTED, reply: SAMPLED, roots: ROOTS }, {}, 'asks-all'),
  again('answers to a part', { name: ACCEPTED }, {}, 'asks-all'),
  again('answers to more', { name: ACCEPTED, odd: {} }),
  again('answers of nothing', {}),
  again('answers of an array', [ACCEPTED]),
  again('answers of a text', 'x'),
  again('answers of null', null),
  again('answers of a number', 1),
  again('answers that are missing', undefined),
  again('answers that are wrapped', { name: { method: 'elicitation/create', result: ACCEPTED } }),
  again('an answer of null', { name: null }),
  again('an answer of a text', { name: 'Ada' }),
  again('an answer of an unknown action', { name: { action: 'maybe' } }),
  again('an answer without a model', { reply: { role: 'assistant' } }, {}, 'asks-model'),
  again('state that is missing', { name: ACCEPTED }, { requestState: undefined }),
  again('state that is null', { name: ACCEPTED }, { requestState: null }),
  again('state that is a number', { name: ACCEPTED }, { requestState: 1 }),
  again('state that is an object', { name: ACCEPTED }, { requestState: {} }),
  again('state that is empty', { name: ACCEPTED }, { requestState: '' }),
  again('state that is not sealed', { name: ACCEPTED }, { requestState: 'not sealed' }),
  again('state of other arguments', { name: ACCEPTED }, { arguments: { a: 1 } }),
  {
    ...again('state of another tool', {}),
    messages: [call('asks-name'), call('asks-all', { inputResponses: { name: ACCEPTED }, requestState: '$state' }, 2)],
  },
  {
    ...again('state for a read', {}),
    messages: [
      call('asks-name'),
      request('resources/read', { uri: 'memory:///a.txt', requestState: '$state' }, { id: 2 }),
    ],
  },
  {
    ...again('state for a list', {}),
    messages: [call('asks-name'), request('tools/list', { requestState: '$state', inputResponses: {} }, { id: 2 })],
  },
  {
    ...again('a second round of a prompt', {}),
    messages: [
      request('prompts/get', { name: 'asks-first' }),
      request(
        'prompts/get',
        { name: 'asks-first', inputResponses: { topic: ACCEPTED }, requestState: '$state' },
        { id: 2 },
      ),
    ],
  },
  ...cases(
    {
      'answers in the other era': call('asks-name', { inputResponses: { name: ACCEPTED } }),
      'state in the other era': call('asks-name', { inputResponses: { name: ACCEPTED }, requestState: 'x' }),
    },
    { eras: ['legacy'] },
  ),
];

/** State and cursor of another server, or of an earlier time. */
export const sealedElsewhere = (
  who: string,
  { state, cursor }: { readonly state: string; readonly cursor: string },
) => [
  again(`${who} state`, { name: ACCEPTED }, { requestState: state }),
  ...cases({ [`${who} cursor`]: request('resources/list', { cursor }) }),
];

const reporting = (_meta: object, more: object = {}): object => call('reporting', { _meta, ...more });

export const REPORTS: readonly MessageCase[] = [
  ...cases({
    'no token and no level': reporting({}),
    'a token of a text': reporting({ progressToken: 'token' }),
    'a token of a number': reporting({ progressToken: 0 }),
    'a token of an object': reporting({ progressToken: {} }),
    'a token of null': reporting({ progressToken: null }),
    'a level': reporting({ [META.logLevel]: 'debug' }),
    'a level above some': reporting({ [META.logLevel]: 'error' }),
    'a level that is none': reporting({ [META.logLevel]: 'loud' }),
    'a token and a level': reporting({ progressToken: 1, [META.logLevel]: 'info' }),
    'a token of a tool that does not report': call('echo', { arguments: { text: 'a' }, _meta: { progressToken: 1 } }),
    'a token of a tool that fails': call('failing', { _meta: { progressToken: 1 } }),
    'a token of an unknown tool': call('unknown', { _meta: { progressToken: 1 } }),
    'a token of a read': request('resources/read', { uri: 'memory:///a.txt', _meta: { progressToken: 1 } }),
    'a token of a read of nothing': request('resources/read', { uri: 'memory:///none', _meta: { progressToken: 1 } }),
    'a token of a list': request('resources/list', { _meta: { progressToken: 1 } }),
    'a token of a tool that asks': call('asks-name', { _meta: { progressToken: 1 } }),
    'a level of a read': request('resources/read', { uri: 'memory:///a.txt', _meta: { [META.logLevel]: 'debug' } }),
  }),
  {
    name: 'a level that was set before',
    messages: [request('logging/setLevel', { level: 'error' }), call('reporting', {}, 2)],
    eras: ['legacy'],
  },
  {
    name: 'a level that was set to everything, and a token',
    messages: [
      request('logging/setLevel', { level: 'debug' }),
      call('reporting', { _meta: { progressToken: 'later' } }, 2),
    ],
    eras: ['legacy'],
  },
];
