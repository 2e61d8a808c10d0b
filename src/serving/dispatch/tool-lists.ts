/**
 * Fits lists of tools to an era: 2026-07-28 has no `execution`, and up to 2025-11-25 an `outputSchema` has to be the schema of an
 * object.
 */

import { BY_NAME_KEYWORDS, DATA_KEYWORDS } from '../../core/schema/keywords.ts';
import { type Data, isData } from '../../protocol/data.ts';
import type { Era } from '../../protocol/era.ts';

/** The result of `tools/list`, for a client of the era. */
export function toolsFor(result: object, era: Era): object {
  const { tools } = result as { readonly tools?: unknown };
  if (!Array.isArray(tools)) return result;
  const fits = era === 'modern' ? hasNoExecution : promisesObject;
  if (tools.every(fits)) return result;
  const change = era === 'modern' ? withoutExecution : promisingObject;
  return { ...result, tools: tools.map((tool) => (fits(tool) ? tool : change(tool))) };
}

const hasNoExecution = (tool: unknown): boolean => !isData(tool) || !('execution' in tool);

/** Removes `execution`, because 2026-07-28 has no tasks of tools. */
function withoutExecution(tool: Data): Data {
  const { execution: _execution, ...rest } = tool;
  return rest;
}

const promisesObject = (tool: unknown): boolean =>
  !isData(tool) || !isData(tool.outputSchema) || tool.outputSchema.type === 'object';

/** Up to 2025-11-25 the schema of a result has to be an object. Any other schema becomes the field `result` of one (SEP-2106). */
function promisingObject(tool: Data): Data {
  const schema = tool.outputSchema as Data;
  const { $schema, $id } = schema;
  const inner = isBase($id) ? schema : within(schema, false);
  const outputSchema = {
    ...(typeof $schema === 'string' && { $schema }),
    type: 'object',
    properties: { result: inner },
    required: ['result'],
  };
  return { ...tool, outputSchema };
}

const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef']);

/** Whether an id is more than a fragment. References within a schema that has such an id start from that schema. */
const isBase = (id: unknown): boolean => id !== undefined && !(typeof id === 'string' && /^(?:#|$)/.test(id));

/** Whether an id means the whole document, and so another schema once the schema has been moved. */
const isWhole = (id: unknown): boolean => id === '' || id === '#';

/**
 * Rewrites the references in a part of a schema for its new place under `properties/result`.
 * @param names whether the keys of the part are names, as in `properties`, and not keywords
 */
function within(part: unknown, names: boolean): unknown {
  if (Array.isArray(part)) return part.map((each) => within(each, false));
  if (!isData(part) || (!names && isBase(part.$id))) return part;
  const kept = Object.entries(part).filter(([key, value]) => names || key !== '$id' || !isWhole(value));
  const moved = kept.map(([key, value]): readonly [string, unknown] => {
    if (names) return [key, within(value, false)];
    if (REFERENCES.has(key) && typeof value === 'string') return [key, referenceWithin(value)];
    return [key, DATA_KEYWORDS.has(key) ? value : within(value, BY_NAME_KEYWORDS.has(key))];
  });
  return Object.fromEntries(moved);
}

const referenceWithin = (reference: string): string =>
  /^(?:#?$|#\/)/.test(reference) ? `#/properties/result${reference.slice(1)}` : reference;
