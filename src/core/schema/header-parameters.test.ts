import { describe, expect, it } from 'vitest';
import { headerParametersOf } from './header-parameters.ts';

const withProperty = (property: unknown) => ({ type: 'object', properties: { a: property } });
const declared = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });

describe('x-mcp-header', () => {
  it('is found on properties of properties, with the way to them', () => {
    const schema = {
      type: 'object',
      properties: {
        region: declared('Region'),
        'a.b': {
          type: 'object',
          properties: { level: declared('Level', 'integer'), dry: declared('X-Dry', 'boolean') },
        },
        plain: { type: 'string' },
      },
    };
    expect(headerParametersOf(schema)).toEqual([
      { header: 'Region', path: ['region'], type: 'string' },
      { header: 'Level', path: ['a.b', 'level'], type: 'integer' },
      { header: 'X-Dry', path: ['a.b', 'dry'], type: 'boolean' },
    ]);
  });

  it('means nothing in data, or as the name of an argument', () => {
    for (const schema of [
      {},
      { const: declared('A') },
      { enum: [declared('A')] },
      withProperty({ type: 'object', default: declared('A'), examples: [declared('A')] }),
      { type: 'object', properties: { 'x-mcp-header': { type: 'string' }, properties: { type: 'string' } } },
      { type: 'object', dependencies: { 'x-mcp-header': ['a'] } },
    ]) {
      expect(headerParametersOf(schema)).toEqual([]);
    }
  });

  it.each<[what: string, schema: Record<string, unknown>]>([
    ['empty', withProperty(declared(''))],
    ['no token', withProperty(declared('two words'))],
    ['with a line break', withProperty(declared('a\r\nb'))],
    ['no string', withProperty(declared(1))],
    ['on a number', withProperty(declared('A', 'number'))],
    ['on an object', withProperty(declared('A', 'object'))],
    ['without a type', withProperty({ 'x-mcp-header': 'A' })],
    ['on several types', withProperty(declared('A', ['string', 'null']))],
    ['twice, but for case', { properties: { a: declared('Same'), b: declared('sAME') } }],
    ['on the schema itself', declared('A')],
    ['under items', withProperty({ type: 'array', items: declared('A') })],
    ['under anyOf', withProperty({ anyOf: [declared('A')] })],
    ['under a property of anyOf', { anyOf: [withProperty(declared('A'))] }],
    ['under else', { else: withProperty(declared('A')) }],
    ['under $defs', { $defs: { a: declared('A') } }],
    ['under a property in $defs', { $defs: { a: withProperty(declared('A')) } }],
    ['under patternProperties', { patternProperties: { '^a': declared('A') } }],
    ['under additionalProperties', { additionalProperties: declared('A') }],
  ])('%s is refused', (_what, schema) => {
    expect(() => headerParametersOf(schema)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });
});
