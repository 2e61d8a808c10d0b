import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkAgainst } from './check.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });

const scalar = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom('', 'a', 'ab', '\u{1f600}'),
  fc.boolean(),
  fc.constant(null),
);

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
}));

const type = fc.constantFrom('object', 'array', 'string', 'number', 'integer', 'boolean', 'null');
const small = fc.integer({ min: 0, max: 3 });

const { schema } = fc.letrec((tie) => {
  const inner = tie('schema');
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.boolean(),
      fc.record(
        {
          type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
          minimum: small,
          maxLength: small,
          minLength: small,
          exclusiveMaximum: small,
          maxItems: small,
          minProperties: small,
        },
        { requiredKeys: [] },
      ),
      fc.record({ enum: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: scalar }),
      fc.record(
        {
          properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), inner, { maxKeys: 3 }),
          required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
          additionalProperties: inner,
        },
        { requiredKeys: [] },
      ),
      fc.record({ prefixItems: list, items: inner }, { requiredKeys: [] }),
      fc.record({ allOf: list }),
      fc.record({ anyOf: list }),
      fc.record({ oneOf: list }),
      fc.record({ not: inner }),
      fc
        .tuple(inner, inner, inner)
        .map((rules) => Object.fromEntries(['if', 'then', 'else'].map((keyword, at) => [keyword, rules[at]]))),
      fc.record({ $ref: fc.constantFrom('#/$defs/x', '#/$defs/y') }),
    ),
  };
});

const NAMES = Array.from({ length: 10_000 }, (_, index) => `name${index}`);
const OBJECT = Object.fromEntries(NAMES.map((name) => [name, true]));

describe('a check against the schema of another server', () => {
  it('agrees with a complete implementation, for schemas all of whose keywords it checks', () => {
    fc.assert(
      fc.property(schema, scalar, value, (rule, constant, data) => {
        const whole = { $defs: { x: { type: 'string' }, y: { enum: [constant, 1] } }, allOf: [rule] };
        const { problem, gaveUp } = checkAgainst(whole, data);
        expect(gaveUp).toBe(false);
        expect(problem === undefined).toBe(ajv.validate(whole, data));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['a pattern', { pattern: '^a$' }],
    ['what is not a pattern', { not: { pattern: '^b$' } }],
    ['one of two patterns', { oneOf: [{ pattern: 'a' }, { pattern: 'b' }] }],
    ['names by pattern', { patternProperties: { '^x': false }, additionalProperties: false }],
    ['what lies elsewhere', { $ref: 'https://elsewhere.example/schema.json' }],
    ['what leads nowhere', { $ref: '#/$defs/none' }],
    ['what nobody knows', { 'x-vendor': 5, uniqueItems: true }],
  ])('leaves open %s', (_title, rule) => {
    for (const data of ['b', { y: 1 }, [1, 1]]) expect(checkAgainst(rule, data).problem).toBeUndefined();
  });

  it.each([
    [
      'doubles at every step',
      {
        $defs: Object.fromEntries(
          Array.from({ length: 60 }, (_, n) => [
            `d${n}`,
            { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
          ]),
        ),
        $ref: '#/$defs/d0',
      },
    ],
    ['leads round', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }],
    ['leads round twice', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }],
  ])('gives up where a schema %s', (_title, rule) => {
    expect(checkAgainst(rule, { a: 1 })).toEqual({ problem: undefined, gaveUp: true });
  });

  it('gives up if the data is deeper than the limit', () => {
    const data: unknown = JSON.parse(`${'[['.repeat(1_000)}${']]'.repeat(1_000)}`);
    expect(checkAgainst({ items: { $ref: '#' } }, data).gaveUp).toBe(true);
  });

  it.each<[keyword: string, rule: (data: unknown) => object, data: unknown]>([
    ['required', () => ({ required: NAMES }), OBJECT],
    ['properties', () => ({ properties: OBJECT }), {}],
    ['maxProperties', () => ({ maxProperties: 10_000 }), OBJECT],
    ['type', () => ({ type: [...NAMES.map(() => 'array'), 'object'] }), {}],
    ['const', (data) => ({ const: data }), OBJECT],
    ['items', () => ({ items: true }), NAMES],
    ['maxLength', () => ({ maxLength: 1_000_000 }), 'a'.repeat(200_000)],
    ['keywords that it does not know', () => OBJECT, {}],
  ])('counts the work of large keywords: %s', (_keyword, rule, data) => {
    const allOf = Array.from({ length: 400 }, () => ({ $ref: '#/$defs/large' }));
    expect(checkAgainst({ $defs: { large: rule(data) }, allOf: [{ $ref: '#/$defs/large' }] }, data).gaveUp).toBe(false);
    expect(checkAgainst({ $defs: { large: rule(data) }, allOf }, data)).toEqual({ problem: undefined, gaveUp: true });
  });

  it('names the place of the problem', () => {
    const rule = { type: 'object', properties: { a: { items: { type: 'object', required: ['b'] } } } };
    expect(checkAgainst(rule, { a: [{ b: 1 }, {}] }).problem).toBe('a.1.b is missing');
    expect(checkAgainst(rule, 5).problem).toBe('it is no object');
  });
});
