/** Checks the settings of a plug-in's mount by the schema of its kind. */
import type { z } from 'zod';
import { checkStandard, compileSchema, isStandardSchema, type Schema } from '../../core/schema/schema.ts';
import { type Explanation, explain } from '../explain.ts';

/** The settings as the schema returns them, or all their problems. */
export type CheckedSettings = { readonly value: unknown } | { readonly problems: readonly Explanation[] };

/**
 * @param under the path of keys to the settings
 * @throws ResourceError `invalid` for an invalid JSON Schema
 */
export async function checkSettings(
  schema: Schema,
  settings: unknown,
  under: readonly PropertyKey[],
): Promise<CheckedSettings> {
  const result = isStandardSchema(schema)
    ? await checkStandard(schema, settings)
    : await (await compileSchema(schema, true)).check(settings);
  if (result.ok) return { value: result.value };
  // Zod's schemas have enough information to suggest the intended key.
  if (isZod(schema)) {
    const { error } = await schema.safeParseAsync(settings);
    if (error !== undefined) return { problems: explain(error, schema, settings, under) };
  }
  const problems = result.issues.map(({ path, message }) => {
    const place = [...under, ...path];
    return { path: place, message: `${place.map(String).join('.')}: ${message}` };
  });
  return { problems };
}

/** Whether it is a schema of any copy of Zod 4. */
const isZod = (schema: object): schema is z.ZodType =>
  '_zod' in schema && 'def' in schema && 'safeParseAsync' in schema;
