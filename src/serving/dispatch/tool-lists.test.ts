/** Lists of tools contain only fields that their era has. */
import { expect, it } from 'vitest';
import { toolsFor } from './tool-lists.ts';

const plain = { name: 'a', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } };

it('a list that fits both eras is returned as the same object', () => {
  const result = { tools: [plain, { name: 'b' }, 'odd'] };
  expect(toolsFor(result, 'legacy')).toBe(result);
  expect(toolsFor(result, 'modern')).toBe(result);
  expect(toolsFor({}, 'legacy')).toEqual({});
});

it('a list of 2026-07-28 has no fields about tasks', () => {
  const result = { tools: [{ ...plain, execution: { taskSupport: 'optional' } }, plain], nextCursor: 'x' };
  expect(toolsFor(result, 'modern')).toEqual({ tools: [plain, plain], nextCursor: 'x' });
  expect(toolsFor(result, 'legacy')).toBe(result);
});

it('in 2025 the schema of a result that is no object becomes the field `result` of an object, and its references still resolve', () => {
  const outputSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'array',
    items: {
      anyOf: [{ $ref: '#/$defs/default' }, { $ref: '#' }, { $dynamicRef: '#/items' }, { $ref: 'other.json#/a' }],
    },
    default: [{ $ref: '#/stays' }],
    $defs: {
      default: { type: 'object', properties: { $ref: { $ref: '#/$defs/b' }, const: { const: { $ref: '#' } } } },
      b: { $id: 'https://elsewhere.example/b', items: { $ref: '#/stays' } },
      c: { $id: '#c', items: { $ref: '#/moves' } },
    },
  };
  expect(toolsFor({ tools: [{ name: 'a', outputSchema }] }, 'legacy')).toEqual({
    tools: [
      {
        name: 'a',
        outputSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          required: ['result'],
          properties: {
            result: {
              ...outputSchema,
              items: {
                anyOf: [
                  { $ref: '#/properties/result/$defs/default' },
                  { $ref: '#/properties/result' },
                  { $dynamicRef: '#/properties/result/items' },
                  { $ref: 'other.json#/a' },
                ],
              },
              $defs: {
                default: {
                  type: 'object',
                  properties: { $ref: { $ref: '#/properties/result/$defs/b' }, const: { const: { $ref: '#' } } },
                },
                b: outputSchema.$defs.b,
                c: { $id: '#c', items: { $ref: '#/properties/result/moves' } },
              },
            },
          },
        },
      },
    ],
  });
  const own = { $id: 'https://here.example/a', items: { $ref: '#/stays' } };
  const [tool] = (
    toolsFor({ tools: [{ name: 'a', outputSchema: own }] }, 'legacy') as { tools: [{ outputSchema: object }] }
  ).tools;
  expect(tool.outputSchema).toEqual({ type: 'object', properties: { result: own }, required: ['result'] });
});

/** The schema of the field `result` that an output schema becomes in 2025. */
function wrapped(outputSchema: object): unknown {
  const { tools } = toolsFor({ tools: [{ name: 'a', outputSchema }] }, 'legacy') as {
    tools: [{ outputSchema: { properties: { result: unknown } } }];
  };
  return tools[0].outputSchema.properties.result;
}

it.each([
  ['', {}],
  ['#', {}],
  ['#here', { $id: '#here' }],
])('an id that names no other document is no base, and is left out if it means the whole: %j', ($id, id) => {
  const part = (prefix: string, own: object) => ({
    ...own,
    type: 'array',
    items: { ...own, anyOf: [{ $ref: `${prefix}/$defs/x` }, { $ref: '#anchor' }] },
    default: [{ $id }],
    $defs: { x: { properties: { $id: { const: $id } } } },
  });
  expect(wrapped(part('#', { $id }))).toEqual(part('#/properties/result', id));
});

it.each(['$ref', '$dynamicRef'])('an empty %s means the whole schema', (keyword) => {
  expect(wrapped({ type: 'array', items: { [keyword]: '' } })).toEqual({
    type: 'array',
    items: { [keyword]: '#/properties/result' },
  });
});

it.each(['https://a.example/x', 'x', '?', '/', 7, null])('references below another id stay as they are: %j', ($id) => {
  const schema = { type: 'array', items: { $id, anyOf: [{ $ref: '' }, { $ref: '#' }, { $ref: '#/$defs/x' }] } };
  expect(wrapped(schema)).toEqual(schema);
  expect(wrapped({ ...schema, $id })).toEqual({ ...schema, $id });
});
