/** Values that are valid, nearly valid, or hostile: JSON, URIs, cursors, templates. */
import fc, { type Arbitrary } from 'fast-check';
import { ATTACKS, MOUNT_ATTACKS } from '../security/corpus.ts';
import { TRAVERSALS } from '../security/corpus-traversals.ts';
import { GOOD } from './place.ts';

/** Keys that objects inherit, and those with a meaning in the protocol. */
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'uri',
  'cursor',
  'name',
  'arguments',
  '_meta',
  'id',
  'method',
  'params',
  'jsonrpc',
  'ref',
  'argument',
  'value',
  'vitrine/range',
  'progressToken',
  'requestId',
  'inputResponses',
  'requestState',
  'notifications',
  'resourceSubscriptions',
  'level',
  '',
  ' ',
  '\u0000',
  '🗝️',
];

const STRINGS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udfff',
  '\ufeff',
  '\u202e',
  '\u2028',
  '..',
  '/',
  '%',
  '%00',
  '%zz',
  '{',
  '{+path}',
  '$x',
  '\u001b[2J',
  'null',
  'NaN',
  '-1',
  '2026-07-28',
  '-32603',
  '*',
  '**',
  '(',
  '(a+)+$',
  '[',
  '\\',
  "' OR 1=1--",
  '$(id)',
  'x'.repeat(300),
  'x'.repeat(70_000),
  'é',
  'e\u0301',
  '文'.repeat(2_000),
];

const NUMBERS = [0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e308, 5e-324];

/** A value with this number of levels. */
function nested(depth: number, array: boolean): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = array ? [value] : { a: value };
  return value;
}

const key: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...KEYS) },
  fc.string({ maxLength: 8 }),
);

export const text: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...STRINGS) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);

/** Any JSON, made from entries, so that `__proto__` is a key like any other. */
export const json: Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.constantFrom(...NUMBERS),
    text,
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    fc.tuple(fc.constantFrom(40, 400, 4_000), fc.boolean()).map(([depth, array]) => nested(depth, array)),
  ),
})).value;

const FILES = [
  GOOD.uri,
  'docs+file:///',
  'docs+file:///guide',
  'docs+file:///guide/deep/x.txt',
  'docs+file:///in',
  'docs+file:///in-folder',
  'docs+file:///out',
  'docs+file:///circle',
  'docs+file:///.env',
  'docs+file:///decoys/%252e%252e/secret.txt',
];
const KNOWN = [
  ...FILES,
  'own+memory:///',
  'own+memory:///a.txt',
  'own+memory:///sub',
  'own+memory:///sub/c.txt',
  'far+memory:///',
  'far+memory:///a.md',
  'far+memory:///c',
  'far+memory:///c/%C3%A9.md',
  'far+vitrine+state:///subscriptions',
  'vitrine+state:///subscriptions',
  'vitrine+state:///upstreams',
];

const PIECES = [
  '..',
  '.',
  '/',
  '//',
  '%2e',
  '%2E%2e',
  '%2f',
  '%5c',
  '\\',
  '%00',
  '%',
  '%c0%ae',
  '?',
  '#',
  '@',
  ':',
  '+',
  ';',
  'docs+',
  'file:',
  'own+',
  'far+',
  'memory:///',
  'file:///',
  'a.txt',
  'guide',
  'root-secret',
  'secret.txt',
  '.env',
  '\u0000',
  '\n',
  ' ',
  'é',
  '\ud800',
];

/** Inserts text, removes text, or changes its case. */
export function bent(source: Arbitrary<string>): Arbitrary<string> {
  return fc
    .tuple(
      source,
      fc.nat({ max: 200 }),
      fc.nat({ max: 6 }),
      fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 3 })),
      fc.nat({ max: 4 }),
    )
    .map(([whole, at, length, piece, how]) => {
      const position = at % (whole.length + 1);
      if (how === 0) return whole.slice(0, position);
      if (how === 1) return whole.toUpperCase();
      if (how === 2) return whole + piece;
      return whole.slice(0, position) + piece + whole.slice(position + length);
    });
}

export const uri: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KNOWN) },
  { weight: 3, arbitrary: bent(fc.constantFrom(...KNOWN)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...ATTACKS, ...TRAVERSALS).map((attack) => attack.replace(/^file:/, 'docs+file:')),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ATTACKS) },
  { weight: 1, arbitrary: fc.constantFrom(...MOUNT_ATTACKS) },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 }).map((all) => all.join('')),
  },
  { weight: 1, arbitrary: text },
);

/** Cursors of the engine for this or another principal, for this or another list, complete or not; or invented ones. */
export const cursor = (given: Arbitrary<string>): Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: given },
    { weight: 3, arbitrary: bent(given) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(given, given)
        .map(([one, other]) => one.slice(0, one.length / 2) + other.slice(other.length / 2)),
    },
    { weight: 1, arbitrary: fc.base64String({ maxLength: 200 }) },
    { weight: 1, arbitrary: text },
  );

const VARIABLES = ['path', 'x', 'y', 'q', '__proto__', 'a.b', '%41', '11'];
const expression: Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&'),
    fc.array(fc.tuple(fc.constantFrom(...VARIABLES), fc.constantFrom('', '*', ':1', ':3', ':9999')), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([operator, variables]) => `{${operator}${variables.map(([name, modifier]) => name + modifier).join()}}`);

export const template: Arbitrary<string> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.oneof(expression, fc.constantFrom(...PIECES), fc.string({ maxLength: 6 })), { maxLength: 6 })
      .map((all) => all.join('')),
  },
  {
    weight: 2,
    arbitrary: bent(fc.array(expression, { minLength: 1, maxLength: 4 }).map((all) => `file:///${all.join('/')}`)),
  },
  { weight: 1, arbitrary: fc.constantFrom('docs+file:///{+path}', 'own+memory:///{+path}', 'far+memory:///{+path}') },
  { weight: 1, arbitrary: text },
);
