import { describe, expect, it } from 'vitest';
import { argumentsOf, parametersOf } from './parameters.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    maybe: { type: ['string', 'null'] },
    count: { type: 'integer' },
    on: { type: 'boolean' },
    tags: { type: 'array' },
    either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    choice: { enum: ['1', '2'] },
    free: {},
  },
  required: ['text'],
};

describe('arguments', () => {
  it.each<[string[], object]>([
    [['text=1'], { text: '1' }],
    [['text=a=b'], { text: 'a=b' }],
    [['maybe=null'], { maybe: 'null' }],
    [['count=2', 'on=true'], { count: 2, on: true }],
    [['tags=a'], { tags: ['a'] }],
    [['tags=["a","b"]'], { tags: ['a', 'b'] }],
    [['tags=1', 'tags=2'], { tags: [1, 2] }],
    [['either=5'], { either: '5' }],
    [['choice=1'], { choice: '1' }],
    [['free={"x":1}', 'other=word'], { free: { x: 1 }, other: 'word' }],
  ])('%j are converted to the types of the tool', (pairs, expected) => {
    expect(argumentsOf(pairs, undefined, SCHEMA)).toEqual(expected);
  });

  it('of --arg replace those of --input', () => {
    expect(argumentsOf(['count=2'], '{"count": 1, "text": "x"}', SCHEMA)).toEqual({ count: 2, text: 'x' });
  });

  it('that do not fit are refused, with their names', () => {
    expect(() => argumentsOf(['count=many'], undefined, SCHEMA)).toThrow('--arg count: the tool wants integer');
    expect(() => argumentsOf(['count'], undefined, SCHEMA)).toThrow('--arg takes name=value');
    expect(() => argumentsOf([], '{', SCHEMA)).toThrow('--input is no JSON');
  });
});

it('parameters of an invalid schema are an empty list, and those with an invalid type take anything', () => {
  for (const schema of [undefined, null, 'x', { properties: [] }]) expect(parametersOf(schema)).toEqual([]);
  expect(parametersOf({ properties: { x: null } })).toMatchObject([{ name: 'x', type: 'anything' }]);
});
