/** Groups keywords of JSON Schema, so that code that walks a schema does not mistake data or names for keywords. */

/** Keywords whose values are data: they contain no schemas, and their texts must not be changed. */
export const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);

/** Keywords whose values map names to schemas. */
export const BY_NAME_KEYWORDS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
