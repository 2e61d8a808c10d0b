/** JSON-RPC messages: valid, nearly valid, and hostile; as data, and as text for the wire. */
import fc, { type Arbitrary } from 'fast-check';
import { TOOL_NAMES } from '../../src/frontends/resource-tools/names.ts';
import { cursor, json, template, text, uri } from './values.ts';

export type Data = Readonly<Record<string, unknown>>;

const optional = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

const range = fc.oneof(
  fc.record({
    offset: optional(fc.constantFrom(0, 1, 5, 1_000, -1, 0.5, 2 ** 53)),
    length: optional(fc.constantFrom(1, 10, 0, -1, 2 ** 40)),
  }),
  json,
);

/** The parameters that each method expects, with valid and hostile values. */
function parameters(given: Arbitrary<string>): Readonly<Record<string, Arbitrary<Data>>> {
  const at = cursor(given);
  const listed = fc.record({ uri: optional(uri), cursor: optional(at) });
  const ref = fc.oneof(
    fc.record({ type: fc.constant('ref/resource'), uri: fc.oneof(template, uri) }),
    fc.record({
      type: fc.constant('ref/prompt'),
      name: fc.oneof(fc.constantFrom('greet', 'far_greet', 'far-greet'), text),
    }),
  );
  const named = fc.dictionary(fc.constantFrom('who', 'path', '__proto__', 'x'), fc.oneof(text, uri), { maxKeys: 3 });
  const toolArguments = fc.record(
    {
      uri: fc.oneof(
        uri,
        uri.map((one) => `${one}\nline`),
      ),
      uris: fc.array(uri, { maxLength: 3 }),
      pattern: fc.oneof(fc.constantFrom('content', '(a|b)+', '--help', '-e', '(?=x)', '.*'), text),
      glob: fc.oneof(fc.constantFrom('**/*.md', '../**', '--pre=cat', '!a', '{a,b}', '['), text),
      under: uri,
      prefix: uri,
      mount: fc.constantFrom('docs', 'own', 'far', '../docs', '__proto__'),
      cursor: at,
      limit: fc.constantFrom(1, 0, -1, 10 ** 9, 'x'),
      offset: fc.constantFrom(0, 1, -1, 2 ** 53),
      length: fc.constantFrom(1, 100, -1, 2 ** 53),
      text,
    },
    { requiredKeys: [] },
  );
  return {
    'resources/list': listed,
    'resources/read': fc.record({ uri, _meta: optional(fc.record({ 'vitrine/range': range })) }),
    'resources/metadata': fc.record({ uri }),
    'resources/directory/read': fc.record({ uri, cursor: optional(at) }),
    'resources/templates/list': fc.record({ cursor: optional(at) }),
    'resources/subscribe': fc.record({ uri }),
    'resources/unsubscribe': fc.record({ uri }),
    'subscriptions/listen': fc.record({
      notifications: fc.oneof(
        fc.record({ resourceSubscriptions: fc.array(uri, { maxLength: 4 }), resourcesListChanged: fc.boolean() }),
        json,
      ),
    }),
    'completion/complete': fc.record({
      ref,
      argument: fc.record({ name: fc.constantFrom('path', 'who', '__proto__', 'x'), value: fc.oneof(text, uri) }),
      context: optional(fc.record({ arguments: named })),
    }),
    'tools/list': fc.record({ cursor: optional(at) }),
    'tools/call': fc.record({
      name: fc.oneof(
        {
          weight: 6,
          arbitrary: fc.constantFrom(...TOOL_NAMES.filter((name) => name !== 'summarize'), 'far_echo', 'far-echo'),
        },
        text,
      ),
      arguments: fc.oneof({ weight: 5, arbitrary: toolArguments as Arbitrary<unknown> }, json),
    }),
    'prompts/list': fc.record({ cursor: optional(at) }),
    'prompts/get': fc.record({
      name: fc.oneof(fc.constantFrom('greet', 'far_greet', 'far-greet'), text),
      arguments: named,
    }),
    ping: fc.constant({}),
    'server/discover': fc.constant({}),
    'logging/setLevel': fc.record({ level: fc.oneof(fc.constantFrom('debug', 'error', 'loud'), text) }),
    initialize: fc.record({
      protocolVersion: fc.oneof(fc.constantFrom('2025-11-25', '2025-03-26', '2026-07-28'), text),
      capabilities: fc.constant({}),
      clientInfo: fc.constant({ name: 'x', version: '1' }),
    }),
    'tasks/get': fc.record({ taskId: text }),
    'sampling/createMessage': fc.constant({ messages: [], maxTokens: 1 }),
  };
}

const NOTIFICATIONS = [
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/roots/list_changed',
  'notifications/nothing',
];

const id: Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 1, max: 1_000_000 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 10 }) },
  { weight: 1, arbitrary: json },
);

/** The parameters of a further round of a request (2026-07-28): answers to questions, and the state. */
const rounds = fc.record(
  {
    inputResponses: fc.oneof(fc.dictionary(fc.string({ maxLength: 5 }), json, { maxKeys: 2 }), json),
    requestState: fc.oneof(text, json),
  },
  { requiredKeys: [] },
);

/** A message without its envelope. */
export function message(given: Arbitrary<string>): Arbitrary<Data> {
  const known = parameters(given);
  const asked = fc.oneof(
    ...Object.entries(known).map(([method, params]) => ({
      weight: /^(?:resources|tools\/call|completion)/.test(method) ? 4 : 1,
      arbitrary: fc.record({ method: fc.constant(method as unknown), params: params as Arbitrary<unknown> }),
    })),
  );
  const request = fc.tuple(asked, id).map(([body, own]) => ({ jsonrpc: '2.0', id: own, ...body }));
  const more = fc
    .tuple(request, rounds)
    .map(([body, extra]) => ({ ...body, params: { ...(body.params as Data), ...extra } }));
  const wrongParams = fc.tuple(request, json).map(([body, params]) => ({ ...body, params }));
  const wrongField = fc
    .tuple(
      request,
      fc.constantFrom('uri', 'cursor', 'name', 'arguments', 'ref', 'argument', '_meta', 'notifications'),
      json,
    )
    .map(([body, field, value]) => ({ ...body, params: { ...(body.params as Data), [field]: value } }));
  const wrongMethod = fc.tuple(request, fc.oneof(text, json)).map(([body, method]) => ({ ...body, method }));
  const notification = fc.record({
    jsonrpc: fc.constant('2.0'),
    method: fc.constantFrom(...NOTIFICATIONS),
    params: fc.oneof(fc.record({ requestId: id, reason: text }), json),
  });
  const response = fc.record({ jsonrpc: fc.constant('2.0'), id, result: json });
  return fc.oneof(
    { weight: 10, arbitrary: request },
    { weight: 2, arbitrary: more },
    { weight: 3, arbitrary: wrongField },
    { weight: 1, arbitrary: wrongParams },
    { weight: 1, arbitrary: wrongMethod },
    { weight: 1, arbitrary: notification as Arbitrary<Data> },
    { weight: 1, arbitrary: response as Arbitrary<Data> },
  ) as Arbitrary<Data>;
}

/** How the text of a message is changed. */
export type Twist = readonly [
  kind: 'none' | 'cut' | 'flip' | 'twice' | 'proto' | 'insert' | 'huge-key' | 'raw',
  at: number,
  piece: string,
];

export const twist: Arbitrary<Twist> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Twist>(['none', 0, '']) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom('cut', 'flip', 'twice', 'proto', 'insert', 'huge-key', 'raw'),
      fc.nat({ max: 100_000 }),
      fc.oneof(
        fc.constantFrom('"', '{', '}', '[', ',', ':', '\\', '\u0000', '\n', '1e999', '-', 'null', '//', '\ufeff'),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
    ),
  },
);

/** The changed text of a message. */
export function textOf(data: unknown, [kind, at, piece]: Twist): string {
  const whole = JSON.stringify(data);
  const position = at % (whole.length + 1);
  switch (kind) {
    case 'none':
      return whole;
    case 'cut':
      return whole.slice(0, position);
    case 'flip':
      return (
        whole.slice(0, position) +
        String.fromCharCode((whole.charCodeAt(position) || 0) ^ 1) +
        whole.slice(position + 1)
      );
    case 'twice':
      return whole.replace(/^\{/, `{"id":7,"method":"ping","params":{"uri":${JSON.stringify(piece)}},`);
    case 'proto':
      return whole.replace('"params":', '"__proto__":');
    case 'insert':
      return whole.slice(0, position) + piece + whole.slice(position);
    case 'huge-key':
      return whole.replace(/^\{/, `{"${'k'.repeat(20_000)}":1,`);
    case 'raw':
      return piece;
  }
}
