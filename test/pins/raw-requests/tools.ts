/** Tools of the fixture: one that echoes, some that ask questions or report progress, and results of every odd shape. */
import {
  defineTool,
  elicitation,
  type InputRequest,
  inputRequired,
  roots,
  sampling,
  type Tool,
} from '../../../src/index.ts';

const ANY = { type: 'object' } as const;

const echo = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'Says what it was given',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string' }, times: { type: 'integer', minimum: 1 } },
    required: ['text'],
  },
  run: (args) => JSON.stringify(args),
});

/** Its arguments are repeated in headers. */
const routed = defineTool({
  name: 'routed',
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      shard: { type: 'integer', 'x-mcp-header': 'Shard' },
      dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    },
  },
  run: (args) => JSON.stringify(args),
});

const typed = defineTool({
  name: 'typed',
  inputSchema: { type: 'object', properties: { value: {} } },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  run: ({ value }) => ({ content: [], structuredContent: value }),
});

const failing = defineTool({
  name: 'failing',
  inputSchema: ANY,
  run: () => {
    throw new Error('a secret of the inside');
  },
});

const reporting = defineTool({
  name: 'reporting',
  inputSchema: ANY,
  run: (_args, { progress, notify, wantsProgress }) => {
    progress(1, 3, 'one of three');
    notify('info', { step: 1 }, 'fixture');
    progress(1, 3, 'not more than before');
    progress(2);
    notify('error', 'a text');
    progress(3, 3);
    return `wanted: ${wantsProgress}`;
  },
});

/** Asks these questions, and answers with the answers. */
const asking = (name: string, requests: Readonly<Record<string, InputRequest>>): Tool =>
  defineTool({
    name,
    inputSchema: ANY,
    run: (_args, { answers, state, seal }) =>
      Object.keys(requests).every((key) => key in answers)
        ? JSON.stringify({ answers, state })
        : inputRequired(requests, seal({ asked: Object.keys(requests) })),
  });

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const NAME = elicitation('What is your name?', FORM);
const SAMPLE = sampling({ messages: [{ role: 'user', content: { type: 'text', text: 'Say hello' } }], maxTokens: 10 });
const URL_MODE = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Sign in', url: 'https://example.com/in', elicitationId: 'one' },
} as const;

/** Reports that it has begun, and continues until it is told to stop. */
const waiting = defineTool({
  name: 'waiting',
  inputSchema: ANY,
  run: (_args, { progress, signal }) =>
    new Promise<string>((resolve) => {
      progress(1);
      signal.addEventListener('abort', () => resolve('stopped'), { once: true });
    }),
});

/** Closes its stream, and continues. */
const leaving = defineTool({
  name: 'leaving',
  inputSchema: ANY,
  run: async (_args, { progress, hangUp }) => {
    progress(1);
    hangUp();
    await new Promise((resolve) => setImmediate(resolve));
    return 'done';
  },
});

const TEXT = { type: 'text', text: 'a text' };

/** Results by the name of the tool that gives them. */
export const RESULTS: Readonly<Record<string, unknown>> = {
  'no-content': {},
  'content-null': { content: null },
  'content-text': { content: 'text' },
  'content-empty': { content: [] },
  'content-of-null': { content: [null] },
  'unknown-block': { content: [{ type: 'smell', data: 'roses' }] },
  'text-block-without-text': { content: [{ type: 'text' }] },
  'text-block-with-more': { content: [{ ...TEXT, annotations: { priority: 1, odd: 1 }, odd: 1, _meta: { key: 1 } }] },
  'text-with-controls': { content: [{ type: 'text', text: 'a\u0000\u001b[31m\u2028b\ud800' }] },
  'image-block': { content: [{ type: 'image', data: 'AAEC', mimeType: 'image/png' }] },
  'image-block-not-base64': { content: [{ type: 'image', data: '?', mimeType: 'image/png' }] },
  'audio-block': { content: [{ type: 'audio', data: 'AAEC', mimeType: 'audio/wav' }] },
  'resource-block': {
    content: [
      {
        type: 'resource',
        resource: { uri: 'memory:///a.txt', text: 'a', name: 'a', size: 1, annotations: { priority: 1 }, odd: 1 },
      },
    ],
  },
  'resource-block-without-uri': { content: [{ type: 'resource', resource: { text: 'a' } }] },
  'link-block': {
    content: [
      { type: 'resource_link', uri: 'memory:///a.txt', name: 'a', size: 1, odd: 1, capabilities: { list: false } },
    ],
  },
  'link-block-without-name': { content: [{ type: 'resource_link', uri: 'memory:///a.txt' }] },
  'structured-object': { content: [TEXT], structuredContent: { a: [1] } },
  'structured-array': { content: [TEXT], structuredContent: [1] },
  'structured-null': { content: [TEXT], structuredContent: null },
  'error-true': { content: [TEXT], isError: true },
  'error-text': { content: [TEXT], isError: 'yes' },
  'meta-odd': { content: [TEXT], _meta: 'none' },
  'meta-own': { content: [TEXT], _meta: { 'example.com/key': { a: 1 } } },
  'unknown-field': { content: [TEXT], odd: 1 },
  'type-complete': { resultType: 'complete', content: [TEXT] },
  'type-unknown': { resultType: 'whatever', content: [TEXT] },
  'type-number': { resultType: 1, content: [TEXT] },
  'asks-nothing': { resultType: 'input_required' },
  'asks-nothing-with-state': { resultType: 'input_required', requestState: 'not sealed' },
  'asks-unknown': { resultType: 'input_required', inputRequests: { a: { method: 'unknown/ask' } } },
  'asks-an-array': { resultType: 'input_required', inputRequests: [] },
  'text-alone': 'a text',
  nothing: undefined,
  null: null,
  number: 1,
  array: [TEXT],
};

const ofResults = Object.entries(RESULTS).map(([name, result]) =>
  defineTool({ name: `gives.${name}`, inputSchema: ANY, run: () => result as string }),
);

export const TOOLS: readonly Tool[] = [
  echo,
  routed,
  typed,
  failing,
  reporting,
  waiting,
  leaving,
  asking('asks-name', { name: NAME }),
  asking('asks-model', { reply: SAMPLE }),
  asking('asks-roots', { roots: roots() }),
  asking('asks-url', { visit: URL_MODE }),
  asking('asks-all', { name: NAME, reply: SAMPLE, roots: roots() }),
  ...ofResults,
];
