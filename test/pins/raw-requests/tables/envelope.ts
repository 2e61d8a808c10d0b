/** Each request of 2026 describes itself and its client. */
import { META, request } from '../eras.ts';
import { cases, type MessageCase } from '../messages.ts';

const meta = (_meta: object): object => request('resources/templates/list', { _meta });
const odd = (key: string, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${key.split('/')[1]} ${name}`, meta({ [key]: value })]),
  );

const WRONG = {
  missing: undefined,
  'is null': null,
  'is a number': 1,
  'is a text': 'x',
  'is an array': [],
  'is empty': {},
};

export const ENVELOPE: readonly MessageCase[] = cases({
  'the envelope': meta({}),
  'no envelope': meta({ [META.revision]: undefined, [META.client]: undefined, [META.capabilities]: undefined }),
  'the revision alone': meta({ [META.client]: undefined, [META.capabilities]: undefined }),
  ...odd(META.revision, {
    ...WRONG,
    'is unknown': '1999-01-01',
    'is of 2025': '2025-11-25',
    'is later': '2030-01-01',
    'has spaces': ' 2026-07-28 ',
    'is no date': '../..',
    'has control characters': '2026\u0000\n',
  }),
  ...odd(META.client, {
    ...WRONG,
    'has no name': { version: '1' },
    'has no version': { name: 'a' },
    'has a name of a number': { name: 1, version: '1' },
    'has an empty name': { name: '', version: '' },
    'has all fields': {
      name: 'a',
      version: '1',
      title: 'A',
      websiteUrl: 'https://example.com',
      description: 'd',
      icons: [],
    },
    'has a website that is none': { name: 'a', version: '1', websiteUrl: 'x' },
    'has icons that are none': { name: 'a', version: '1', icons: 'x' },
    'has unknown fields': { name: 'a', version: '1', odd: { a: 1 } },
  }),
  ...odd(META.capabilities, {
    ...WRONG,
    'has an unknown one': { odd: {} },
    'has one of a text': { sampling: 'yes' },
    'has one of true': { roots: true },
    'has one of null': { elicitation: null },
    'has parts': {
      sampling: { tools: {}, context: {} },
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
    },
    'has odd parts': { sampling: { tools: 1 }, elicitation: { form: 'x' }, roots: { listChanged: 'x' } },
    'has extensions': { extensions: { 'example.com/a': { b: 1 } } },
    'has extensions of an array': { extensions: [] },
    'has experimental ones': { experimental: { a: {} } },
  }),
  ...odd(META.logLevel, { ...WRONG, 'is good': 'info', 'is in capitals': 'INFO' }),
  ...odd('io.modelcontextprotocol/odd', { 'is unknown': 1 }),
  ...odd('io.modelcontextprotocol/', { 'is empty': 1 }),
  ...odd('example.com/odd', { 'of others': { a: 1 } }),
  'progressToken is a text': meta({ progressToken: 'token' }),
  'progressToken is a number': meta({ progressToken: 7 }),
  'progressToken is a fraction': meta({ progressToken: 0.5 }),
  'progressToken is an object': meta({ progressToken: {} }),
  'progressToken is null': meta({ progressToken: null }),
  'progressToken is empty': meta({ progressToken: '' }),
  'traceparent is odd': meta({ traceparent: 'x' }),
  'a tool, with an unknown revision': request('tools/call', {
    name: 'echo',
    arguments: { text: 'a' },
    _meta: { [META.revision]: '1999-01-01' },
  }),
  'a tool, with odd capabilities': request('tools/call', {
    name: 'echo',
    arguments: { text: 'a' },
    _meta: { [META.capabilities]: { sampling: { tools: 1 } } },
  }),
  'a tool, with an odd client': request('tools/call', {
    name: 'echo',
    arguments: { text: 'a' },
    _meta: { [META.client]: { name: 'a', version: '1', websiteUrl: 'x' } },
  }),
  'ping, with an unknown revision': request('ping', { _meta: { [META.revision]: '1999-01-01' } }),
  'a method unknown, with an unknown revision': request('odd', { _meta: { [META.revision]: '1999-01-01' } }),
  'discover, with an unknown revision': request('server/discover', { _meta: { [META.revision]: '1999-01-01' } }),
  'discover, without an envelope': request('server/discover', {
    _meta: { [META.revision]: undefined, [META.client]: undefined, [META.capabilities]: undefined },
  }),
});
