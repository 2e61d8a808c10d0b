/** Keywords of JSON Schema, for whoever walks a schema and must not take data or names for keywords. */

/** Their values are data: nothing in them is a schema, and a text in them means what it says, character by character. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** Their values are schemas by name. */
export const BY_NAME_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
