/** HTTP requests around the messages: methods, headers, eras, sessions and principals. */
import fc, { type Arbitrary } from 'fast-check';
import { type Data, message, type Twist, textOf, twist } from './messages.ts';
import { PRINCIPALS, type Who } from './place.ts';
import { json, text } from './values.ts';

export interface FuzzedRequest {
  readonly who: Who;
  readonly era: 'modern' | 'legacy';
  readonly method: string;
  /** The owner of the session; `made-up` names none that exists. */
  readonly session: 'own' | 'other' | 'made-up' | 'none';
  /** Headers that replace the right ones; an empty value removes one. */
  readonly headers: Readonly<Record<string, string>>;
  readonly messages: readonly Data[];
  readonly batch: boolean;
  readonly meta: unknown;
  readonly twist: Twist;
}

const headerValue: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    '*',
    '*/*',
    'application/json',
    'text/plain',
    'application/json; charset=utf-16',
    'text/event-stream',
    '2025-11-25',
    '2026-07-28',
    '2024-11-05',
    '1999-01-01',
    'resources/read',
    'tools/call',
    'docs+file:///a.txt',
    '=?base64?ZG9jcytmaWxlOi8vL2EudHh0?=',
    '=?base64?!!?=',
    '=?base64?',
    'gzip',
    '100-continue',
    '0',
    '-1',
    '999999999999',
    'null',
    'http://evil.example',
    'http://127.0.0.1',
    'evil.example',
    '127.0.0.1:1',
    '[::1]',
    'localhost.evil.example',
    'Bearer x',
    'x'.repeat(4_000),
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((value) => value.trim()),
);

const HEADERS = [
  'content-type',
  'accept',
  'host',
  'origin',
  'mcp-protocol-version',
  'mcp-method',
  'mcp-name',
  'mcp-session-id',
  'last-event-id',
  'authorization',
  'content-encoding',
  'x-forwarded-host',
  'mcp-param-text',
  'traceparent',
  'cookie',
  'referer',
];

const headers: Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.dictionary(fc.constantFrom(...HEADERS), headerValue, { minKeys: 1, maxKeys: 3 }) },
);

export function asked(given: Arbitrary<string>): Arbitrary<FuzzedRequest> {
  return fc.record({
    who: fc.constantFrom(...PRINCIPALS),
    era: fc.constantFrom('modern', 'modern', 'legacy'),
    method: fc.oneof(
      { weight: 20, arbitrary: fc.constant('POST') },
      fc.constantFrom('GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD', 'PATCH'),
    ),
    session: fc.oneof(
      { weight: 10, arbitrary: fc.constant<FuzzedRequest['session']>('own') },
      fc.constantFrom<FuzzedRequest['session'][]>('other', 'made-up', 'none'),
    ),
    headers,
    messages: fc.oneof(
      { weight: 12, arbitrary: fc.array(message(given), { minLength: 1, maxLength: 1 }) },
      fc.array(message(given), { maxLength: 4 }),
    ),
    batch: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, fc.constant(true)),
    meta: fc.oneof(
      { weight: 12, arbitrary: fc.constant(undefined) },
      fc.dictionary(
        fc.constantFrom(
          'io.modelcontextprotocol/protocolVersion',
          'io.modelcontextprotocol/clientInfo',
          'io.modelcontextprotocol/clientCapabilities',
          'io.modelcontextprotocol/logLevel',
          'progressToken',
          'traceparent',
          '__proto__',
        ),
        fc.oneof(text, json, fc.constantFrom({ elicitation: {} }, { sampling: {} }, { roots: {} })),
        { minKeys: 1, maxKeys: 3 },
      ),
    ),
    twist,
  }) as Arbitrary<FuzzedRequest>;
}

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzzer', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** The text of the body. */
export function bodyOf({ era, messages, batch, meta, twist: how }: FuzzedRequest): string {
  const inEra = messages.map((each) => (era === 'modern' ? enveloped(each, meta) : each));
  // As UTF-8, which has no lone surrogates.
  return textOf(batch ? inEra : (inEra[0] ?? null), how).toWellFormed();
}

export function enveloped(data: Data, meta?: unknown): Data {
  const { params } = data;
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return data;
  const own = (params as Data)._meta;
  if (own !== undefined && (typeof own !== 'object' || own === null || Array.isArray(own))) return data;
  return { ...data, params: { ...params, _meta: { ...own, ...ENVELOPE, ...(meta as object | undefined) } } };
}

/** The headers, with the session if there is one. Values are valid for a Request. */
export function headersOf({ era, messages, headers: wrong }: FuzzedRequest, session: string | undefined): Headers {
  const first = messages[0] ?? {};
  const { uri, name } = (typeof first.params === 'object' && first.params !== null ? first.params : {}) as Data;
  const named = first.method === 'resources/read' ? uri : name;
  const right: Record<string, string> = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': era === 'modern' ? '2026-07-28' : '2025-11-25',
    ...(era === 'modern' && { 'mcp-method': typeof first.method === 'string' ? first.method : 'none' }),
    ...(era === 'modern' && typeof named === 'string' && { 'mcp-name': plain(named) ? named : encoded(named) }),
    ...(session !== undefined && { 'mcp-session-id': session }),
  };
  const made = new Headers();
  for (const [header, value] of Object.entries({ ...right, ...wrong })) {
    if (value !== '' && /^[\t\x20-\x7e]*$/.test(value)) made.set(header, value);
  }
  return made;
}

const plain = (value: string): boolean => /^[\x21-\x7e]+$/.test(value) && !value.startsWith('=?');
const encoded = (value: string): string => `=?base64?${Buffer.from(value).toString('base64')}?=`;
