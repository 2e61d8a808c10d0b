/** Mistakes in handshakes, lists, contents, tools and prompts, and the checks that find them. */
import { capabilities, type Fault, type Outcome, type Params, PROMPTS, RESOURCES, TOOLS } from './good.ts';
import { answers, hello, type Planted, refusal, result } from './planting.ts';

/** Adds an entry to the last page of a list. */
const entry = (method: string, field: string, more: unknown): Fault => ({
  answer: answers({
    [method]: (_, usual) =>
      usual[field] === undefined || usual.nextCursor !== undefined
        ? Object.keys(usual).length === 0
          ? refusal(-32_602)
          : result(usual)
        : result({ ...usual, [field]: [...(usual[field] as readonly unknown[]), more] }),
  }),
});

const resource = (more: Params): Fault =>
  entry('resources/list', 'resources', { uri: 'x:///other', name: 'o', ...more });

/** Adds a tool. */
const tool = (more: Params): Fault =>
  entry('tools/list', 'tools', { name: 'x', inputSchema: { type: 'object' }, ...more });

/** Replaces the contents of the text. */
const contents = (...items: readonly unknown[]): Fault => ({
  answer: answers({
    'resources/read': ({ uri }, usual) =>
      uri === RESOURCES[0].uri ? result({ contents: items }) : 'contents' in usual ? result(usual) : refusal(-32_602),
  }),
});

const NOTE = RESOURCES[0].uri;

export const OF_THE_PROTOCOL: readonly Planted[] = [
  {
    fault: 'no version in serverInfo',
    check: 'server-info',
    level: 'error',
    plant: hello({ serverInfo: { name: 'x' }, _meta: {} }),
  },
  {
    fault: 'a capability that is true',
    check: 'capabilities',
    level: 'error',
    plant: hello({ capabilities: { ...capabilities, tools: true } }),
  },
  {
    fault: 'tools are declared, and cannot be listed',
    check: 'declared-works',
    level: 'error',
    plant: { answer: answers({ 'tools/list': () => refusal(-32_601) }) },
  },
  {
    fault: 'prompts are there, and not declared',
    check: 'undeclared-works',
    level: 'warning',
    plant: hello({ capabilities: { ...capabilities, prompts: undefined } }),
  },
  {
    fault: 'no ping',
    check: 'ping',
    level: 'error',
    era: 'legacy',
    plant: { answer: answers({ ping: () => refusal(-32_601) }) },
  },
  {
    fault: 'any method has a result',
    check: 'unknown-method',
    level: 'error',
    plant: { answer: (_method, _params, usual) => (isUnknown(usual()) ? result({}) : usual()) },
  },
  {
    fault: 'an unknown method is an internal error',
    check: 'unknown-method',
    level: 'warning',
    plant: { answer: (_method, _params, usual) => (isUnknown(usual()) ? refusal(-32_603) : usual()) },
  },
  {
    fault: 'it is over with an unknown notification',
    check: 'unknown-notification',
    level: 'error',
    era: 'legacy',
    plant: afterNotification(),
  },
  {
    fault: 'ids come back as texts',
    check: 'request-ids',
    level: 'error',
    plant: { id: (id) => (id === 0 ? '0' : id) },
  },
  {
    fault: 'wrong parameters are an internal error',
    check: 'malformed-params',
    level: 'warning',
    plant: {
      answer: answers({
        'prompts/get': ({ name }, usual) => (typeof name === 'string' ? result(usual) : refusal(-32_603)),
      }),
    },
  },
  {
    fault: 'a read without a URI has a result',
    check: 'malformed-params',
    level: 'error',
    plant: { answer: answers({ 'resources/read': (_, usual) => result({ contents: [], ...usual }) }) },
  },
  {
    fault: 'any revision is taken',
    check: 'unsupported-version',
    level: 'error',
    era: 'modern',
    plant: { leaves: ['version'] },
  },
  {
    fault: 'an icon over plain HTTP',
    check: 'icons',
    level: 'error',
    plant: resource({ icons: [{ src: 'http://example.com/a.png' }] }),
  },
  {
    fault: 'an icon whose type is an object that no text can be made of',
    check: 'icons',
    level: 'error',
    plant: resource({ icons: [{ src: 'https://example.com/a.png', mimeType: { toString: 1, valueOf: 1 } }] }),
  },
  { fault: 'a resource without a name', check: 'list-form', level: 'error', plant: resource({ name: undefined }) },
  { fault: 'a resource twice', check: 'list-unique', level: 'error', plant: resource({ uri: NOTE }) },
  {
    fault: 'a cursor that leads back',
    check: 'pages-end',
    level: 'error',
    plant: { answer: answers({ 'tools/list': () => result({ tools: TOOLS, nextCursor: 'again' }) }) },
  },
  {
    fault: 'an empty cursor at the end',
    check: 'pages-end',
    level: 'warning',
    plant: { answer: answers({ 'tools/list': (_, usual) => result({ ...usual, nextCursor: '' }) }) },
  },
  { fault: 'another order each time', check: 'pages-stable', level: 'warning', plant: turning() },
  {
    fault: 'any cursor is taken',
    check: 'cursor-refused',
    level: 'warning',
    plant: { answer: answers({ 'prompts/list': () => result({ prompts: PROMPTS }) }) },
  },
  {
    fault: 'an escape in a name',
    check: 'names-shown',
    level: 'warning',
    plant: resource({ name: '\u001b[2Jcleared' }),
  },
  {
    fault: 'a URI without a scheme',
    check: 'uri-valid',
    level: 'error',
    plant: resource({ uri: '1password://config' }),
  },
  { fault: 'a URI with a space', check: 'uri-valid', level: 'error', plant: resource({ uri: 'x:///a b' }) },
  { fault: 'a resource that cannot be read', check: 'readable', level: 'error', plant: resource({}) },
  {
    fault: 'contents without text and blob',
    check: 'contents-form',
    level: 'error',
    plant: contents({ uri: NOTE, content: 'x' }),
  },
  {
    fault: 'contents of another URI',
    check: 'contents-uri',
    level: 'warning',
    plant: contents({ uri: 'x:///else', text: 'x' }),
  },
  {
    fault: 'a blob in the alphabet of URLs',
    check: 'base64-valid',
    level: 'error',
    plant: contents({ uri: NOTE, blob: '_-_-' }),
  },
  {
    fault: 'a PNG that is called text',
    check: 'mime-type',
    level: 'error',
    plant: contents({ uri: NOTE, mimeType: 'text/plain', blob: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ' }),
  },
  {
    fault: 'a type in the list, and another one when it is read',
    check: 'mime-type',
    level: 'warning',
    plant: contents({ uri: NOTE, mimeType: 'text/markdown', text: 'x' }),
  },
  {
    fault: 'a size that is wrong',
    check: 'size',
    level: 'error',
    plant: contents({ uri: NOTE, mimeType: 'text/plain', text: 'x' }),
  },
  {
    fault: 'empty contents for what is not there',
    check: 'missing-resource',
    level: 'error',
    plant: { answer: answers({ 'resources/read': (_, usual) => result({ contents: [], ...usual }) }) },
  },
  {
    fault: 'an internal error for what is not there',
    check: 'missing-resource',
    level: 'warning',
    plant: {
      answer: answers({ 'resources/read': (_, usual) => ('contents' in usual ? result(usual) : refusal(-32_603)) }),
    },
  },
  { fault: 'a priority of 7', check: 'annotations', level: 'error', plant: resource({ annotations: { priority: 7 } }) },
  {
    fault: 'metadata of another name',
    check: 'metadata-agrees',
    level: 'error',
    plant: {
      answer: answers({
        'resources/metadata': (_, usual) => result({ resource: { ...(usual.resource as Params), name: 'else' } }),
      }),
    },
  },
  {
    fault: 'a container without a list',
    check: 'containers-list',
    level: 'error',
    plant: {
      answer: answers({
        'resources/list': ({ uri, cursor }, usual) =>
          (uri ?? (cursor === 'x' ? 1 : undefined)) ? refusal(-32_601) : orRefused(usual),
      }),
    },
  },
  {
    fault: 'a template that is open',
    check: 'template-valid',
    level: 'error',
    plant: entry('resources/templates/list', 'resourceTemplates', { uriTemplate: 'x:///{name', name: 'open' }),
  },
  {
    fault: 'a template without a variable',
    check: 'template-variables',
    level: 'warning',
    plant: entry('resources/templates/list', 'resourceTemplates', { uriTemplate: 'x:///all', name: 'all' }),
  },
  {
    fault: 'completions that are no texts',
    check: 'completion',
    level: 'error',
    plant: { answer: answers({ 'completion/complete': () => result({ completion: { values: [1, 2] } }) }) },
  },
  {
    fault: 'completions for a prompt that is not there',
    check: 'completion-unknown',
    level: 'warning',
    plant: { answer: answers({ 'completion/complete': () => result({ completion: { values: [] } }) }) },
  },
  {
    fault: 'subscriptions are declared, and refused',
    check: 'subscribe',
    level: 'error',
    era: 'legacy',
    plant: { answer: answers({ 'resources/subscribe': () => refusal(-32_601) }) },
  },
  {
    fault: 'subscriptions are taken, and not declared',
    check: 'subscribe-undeclared',
    level: 'warning',
    era: 'legacy',
    plant: hello({ capabilities: { ...capabilities, resources: {} } }),
  },
  {
    fault: 'changes are declared, and cannot be listened to',
    check: 'listen',
    level: 'error',
    era: 'modern',
    plant: { answer: answers({ 'subscriptions/listen': () => refusal(-32_601) }) },
  },
  {
    fault: 'a tool with a space in its name',
    check: 'tool-names',
    level: 'warning',
    plant: tool({ name: 'do it' }),
  },
  {
    fault: 'a schema of no type',
    check: 'tool-schemas',
    level: 'error',
    plant: tool({ inputSchema: { type: 'object', properties: { a: { type: 'number!' } } } }),
  },
  {
    fault: 'a schema of an array',
    check: 'tool-schemas',
    level: 'error',
    plant: tool({ inputSchema: { type: 'array' } }),
  },
  {
    fault: 'a hint that is a text',
    check: 'tool-annotations',
    level: 'error',
    plant: tool({ annotations: { readOnlyHint: 'yes' } }),
  },
  {
    fault: 'structured content that is not as its schema says',
    check: 'tool-calls',
    level: 'error',
    plant: { answer: answers({ 'tools/call': () => result({ content: [], structuredContent: { count: 'one' } }) }) },
  },
  {
    fault: 'a pattern of a schema that would take ages, and a text that it does not match',
    check: 'tool-calls',
    level: 'error',
    plant: {
      answer: answers({
        'tools/list': (_, usual) => {
          const outputSchema = { type: 'object', properties: { count: { pattern: '^(a+)+$' } } };
          return 'tools' in usual
            ? result({ tools: TOOLS.map((each) => ({ ...each, outputSchema })) })
            : refusal(-32_602);
        },
        'tools/call': () => result({ content: [], structuredContent: { count: `${'a'.repeat(100)}!` } }),
      }),
    },
  },
  {
    fault: 'any tool can be called',
    check: 'tool-unknown',
    level: 'warning',
    plant: { answer: answers({ 'tools/call': () => result({ content: [], structuredContent: { count: 1 } }) }) },
  },
  {
    fault: 'an argument twice',
    check: 'prompt-arguments',
    level: 'error',
    plant: entry('prompts/list', 'prompts', { name: 'x', arguments: [{ name: 'a' }, { name: 'a' }] }),
  },
  {
    fault: 'messages of no role',
    check: 'prompt-get',
    level: 'error',
    plant: {
      answer: answers({ 'prompts/get': () => result({ messages: [{ content: { type: 'text', text: 'x' } }] }) }),
    },
  },
  {
    fault: 'any prompt can be had',
    check: 'prompt-unknown',
    level: 'error',
    plant: { answer: answers({ 'prompts/get': () => result({ messages: [] }) }) },
  },
  {
    fault: 'no resultType',
    check: 'result-type',
    level: 'error',
    era: 'modern',
    plant: { answer: answers({ 'prompts/list': (_, usual) => result({ ...usual, resultType: undefined }) }) },
  },
  {
    fault: 'a cache scope that nobody knows',
    check: 'cache-hints',
    level: 'error',
    era: 'modern',
    plant: { answer: answers({ 'prompts/list': (_, usual) => result({ ...usual, cacheScope: 'all' }) }) },
  },
];

function isUnknown(outcome: Outcome): boolean {
  return outcome !== undefined && 'error' in outcome && outcome.error.code === -32_601;
}

function orRefused(usual: Params): Outcome {
  return 'resources' in usual ? result(usual) : refusal(-32_602);
}

/** Answers nothing after an unknown notification. */
function afterNotification(): Fault {
  let over = false;
  return {
    http: (_request, response, body) => {
      over ||= body.includes('no-such-notification');
      if (over) response.destroy();
      return over;
    },
  };
}

/** Reverses the list of tools each time. */
function turning(): Fault {
  let count = 0;
  return {
    answer: answers({
      'tools/list': (_, usual) => {
        const [tool] = TOOLS;
        const tools = [tool, { ...tool, name: 'other' }];
        if (!('tools' in usual)) return refusal(-32_602);
        return result({ tools: count++ % 2 === 0 ? tools : tools.toReversed() });
      },
    }),
  };
}
