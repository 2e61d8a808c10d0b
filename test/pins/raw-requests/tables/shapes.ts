/** Valid and invalid shapes of JSON-RPC messages. */
import { notification, request, type Written } from '../eras.ts';
import { cases, type MessageCase } from '../messages.ts';

/** A request whose JSON is written by hand, as `JSON.stringify` would not write it. */
const written =
  (fields: string, params = '', change = (json: string): string => json): Written =>
  (meta) =>
    change(`{"jsonrpc":"2.0","id":1,${fields},"params":{${params}"_meta":${meta}}}`);

const PING = '"method":"ping"';
const ping = (change: (json: string) => string): Written => written(PING, '', change);

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const ROOT = 'memory:///';

export const SHAPES: readonly MessageCase[] = cases({
  'a plain request': request('ping'),
  'no jsonrpc': { id: 1, method: 'ping' },
  'jsonrpc 1.0': request('ping', undefined, { jsonrpc: '1.0' }),
  'jsonrpc is a number': request('ping', undefined, { jsonrpc: 2 }),
  'id is null': request('ping', undefined, { id: null }),
  'id is true': request('ping', undefined, { id: true }),
  'id is a fraction': request('ping', undefined, { id: 1.5 }),
  'id is an object': request('ping', undefined, { id: {} }),
  'id is an array': request('ping', undefined, { id: [1] }),
  'id is an empty text': request('ping', undefined, { id: '' }),
  'id is a text': request('ping', undefined, { id: 'one' }),
  'id is zero': request('ping', undefined, { id: 0 }),
  'id is negative': request('ping', undefined, { id: -1 }),
  'id is the largest safe integer': request('ping', undefined, { id: Number.MAX_SAFE_INTEGER }),
  'id is larger than that': ping((json) => json.replace('"id":1', '"id":9007199254740993')),
  'id has an exponent': ping((json) => json.replace('"id":1', '"id":1e400')),
  'id is a long text': request('ping', undefined, { id: 'x'.repeat(5_000) }),
  'id of a read is a fraction': request('resources/read', { uri: 'memory:///a.txt' }, { id: 1.5 }),
  'id of a read is null': request('resources/read', { uri: 'memory:///a.txt' }, { id: null }),
  'no method': { jsonrpc: '2.0', id: 1 },
  'method is a number': request('ping', undefined, { method: 1 }),
  'method is null': request('ping', undefined, { method: null }),
  'method is empty': request(''),
  'method is unknown': request('unknown/method'),
  'method is unknown, with control characters': request('un\u0000known\n'),
  'method is of the prototype': request('constructor'),
  'method is of the server': request('sampling/createMessage', { messages: [], maxTokens: 1 }),
  'method of a notification with an id': request('notifications/initialized'),
  'method of a request without an id': notification('resources/list'),
  'params is an array': request('resources/list', []),
  'params is a text': request('resources/list', 'all'),
  'params is null': request('resources/list', null),
  'params is a number': request('resources/list', 1),
  'params of ping is an array': request('ping', []),
  '_meta is a text': request('resources/list', { _meta: 'none' }),
  '_meta is an array': request('resources/list', { _meta: [] }),
  '_meta is null': request('resources/list', { _meta: null }),
  '_meta is a number': request('resources/list', { _meta: 1 }),
  '_meta of ping is a text': request('ping', { _meta: 'none' }),
  'fields beside those of JSON-RPC': request('resources/list', {}, { odd: 1, also: { a: [] } }),
  'result beside method': request('resources/list', {}, { result: {} }),
  'error beside method': request('resources/list', {}, { error: { code: 1, message: 'x' } }),
  'a response': { jsonrpc: '2.0', id: 1, result: {} },
  'a response without a result': { jsonrpc: '2.0', id: 1, result: null },
  'an error': { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'no' } },
  'an error without an id': { jsonrpc: '2.0', error: { code: -32_000, message: 'no' } },
  'an error without a code': { jsonrpc: '2.0', id: 1, error: { message: 'no' } },
  'a response and an error': { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'no' } },
  'notification initialized': notification('notifications/initialized'),
  'notification cancelled, of nothing': notification('notifications/cancelled', { requestId: 77 }),
  'notification cancelled, without params': notification('notifications/cancelled'),
  'notification cancelled, of an object': notification('notifications/cancelled', { requestId: {} }),
  'notification progress, of nothing': notification('notifications/progress', { progressToken: 1, progress: 1 }),
  'notification progress, wrong': notification('notifications/progress', { progress: 'x' }),
  'notification roots changed': notification('notifications/roots/list_changed'),
  'notification unknown': notification('notifications/unknown', { a: 1 }),
  'notification of the server': notification('notifications/resources/updated', { uri: ROOT }),
  'notification with params of an array': notification('notifications/initialized', []),
});

export const TEXTS: readonly MessageCase[] = cases({
  nothing: '',
  'white space': ' \t ',
  null: 'null',
  true: 'true',
  'a number': '1',
  'a text': '"x"',
  'an empty object': '{}',
  'an array of nothing': '[]',
  'an array of arrays': '[[]]',
  'an array of null': '[null]',
  'no JSON': 'ping',
  'JSON that breaks off': '{"jsonrpc":"2.0","id":1,"method":"ping"',
  'JSON with more behind it': ping((json) => `${json}x`),
  'two messages on a line': ping((json) => json + json),
  'JSON with a trailing comma': '{"jsonrpc":"2.0","id":1,"method":"ping",}',
  'JSON with single quotes': "{'jsonrpc':'2.0','id':1,'method':'ping'}",
  'JSON with a comment': '{"jsonrpc":"2.0","id":1,/* */"method":"ping"}',
  'JSON with NaN': '{"jsonrpc":"2.0","id":NaN,"method":"ping"}',
  'JSON with white space around': ping((json) => `  ${json}\t`),
  'escapes in names': written('"m\\u0065thod":"ping"'),
  'an unpaired surrogate': written('"method":"resources/read"', '"uri":"memory:///\\ud800",'),
  'a byte order mark': ping((json) => `\ufeff${json}`),
  'bytes that are not UTF-8': Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":1,"method":"p'),
    Buffer.of(0xff, 0xc3),
    Buffer.from('"}'),
  ]),
  'UTF-16': Buffer.from('{"jsonrpc":"2.0"}', 'utf16le'),
  'a zero byte': ping((json) => json.replace('ping', 'pi\u0000ng')),
  'method stands there twice': written('"method":"resources/list","method":"ping"'),
  'id stands there twice': written('"id":2,"method":"ping"'),
  'params stand there twice': written('"method":"resources/read","params":1', '"uri":"memory:///a.txt",'),
  'uri stands there twice': written('"method":"resources/read"', '"uri":"memory:///","uri":"memory:///a.txt",'),
  '__proto__ in the message': written('"__proto__":{"method":"ping"}'),
  '__proto__ in params': written('"method":"resources/read"', '"__proto__":{"uri":"memory:///a.txt"},'),
  '__proto__ beside the parameters': written(
    '"method":"resources/read"',
    '"uri":"memory:///a.txt","__proto__":{"uri":"memory:///picture.png"},',
  ),
  '__proto__ in _meta': written('"method":"resources/read"', '"uri":"memory:///a.txt",', (json) =>
    json.replace('"_meta":{', '"_meta":{"__proto__":{"progressToken":1},"a":1,').replace('"a":1,}', '"a":1}'),
  ),
  '__proto__ in arguments': written(
    '"method":"tools/call"',
    '"name":"echo","arguments":{"__proto__":{"text":"a"},"text":"b"},',
  ),
  '__proto__ as all arguments': written(
    '"method":"tools/call"',
    '"name":"echo","arguments":{"__proto__":{"text":"a"}},',
  ),
  '__proto__ in inputResponses': written(
    '"method":"tools/call"',
    '"name":"asks-name","inputResponses":{"__proto__":{"name":1},"name":{"action":"cancel"}},',
  ),
  'constructor and prototype in arguments': written(
    '"method":"tools/call"',
    '"name":"echo","arguments":{"text":"b","constructor":{"prototype":{"a":1}}},',
  ),
  'nested 60 deep': written('"method":"resources/list"', `"odd":${nested(58)},`),
  'nested 65 deep': written('"method":"resources/list"', `"odd":${nested(63)},`),
  'nested 5,000 deep': written('"method":"resources/list"', `"odd":${nested(5_000)},`),
  'brackets in a text': written('"method":"resources/list"', `"odd":"${'['.repeat(100)}",`),
  'a long key': written('"method":"resources/list"', `"${'k'.repeat(20_000)}":1,`),
});
