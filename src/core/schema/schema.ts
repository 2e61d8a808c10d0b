/**
 * Compiles schemas of arguments and results: JSON Schema 2020-12, or schemas of a library with Standard JSON Schema (SEC-TOOL-1).
 */
import { invalid } from '../errors.ts';

/** The used part of the Standard Schema and Standard JSON Schema interfaces. Zod, ArkType and others implement them. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
      | undefined;
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema 2020-12 object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export type Schema<Output = unknown> = StandardSchema<Output> | JsonSchema;

/** The type of a handler's argument, as its schema says. */
export type OutputOf<S> = S extends StandardSchema<infer Output> ? Output : Readonly<Record<string, unknown>>;

/** A problem in a value, and the path to it. */
export interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The result of a validation. `problem` joins the first few `issues` in one line. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly issues: readonly SchemaIssue[] };

export interface CompiledSchema {
  readonly json: JsonSchema;
  /** Checks a value; the problem is one line that names the path. */
  check(value: unknown): Promise<Checked>;
}

const TARGET = 'draft-2020-12';

/** The most problems in one message. */
const MAX_PROBLEMS = 5;

export function isStandardSchema(schema: Schema): schema is StandardSchema {
  return '~standard' in schema;
}

/**
 * @param all whether a JSON Schema collects all problems of a value; use it only for trusted values, since collecting can be slow
 * @throws ResourceError `invalid` when the schema cannot be written as JSON Schema or is not valid JSON Schema
 */
export async function compileSchema(schema: Schema, all = false): Promise<CompiledSchema> {
  return isStandardSchema(schema) ? compileStandard(schema) : compileJson(schema, all);
}

function compileStandard(schema: StandardSchema): CompiledSchema {
  const standard = schema['~standard'];
  if (standard.jsonSchema === undefined) {
    throw invalid(
      `Schemas of ${standard.vendor} cannot be shown as JSON Schema; use a version that implements Standard JSON Schema`,
    );
  }
  const json = standard.jsonSchema.input({ target: TARGET });
  return {
    json,
    check: (value) => checkStandard(schema, value),
  };
}

/** Checks a value with a schema that need not have a JSON Schema form. */
export async function checkStandard(schema: StandardSchema, value: unknown): Promise<Checked> {
  const result = await schema['~standard'].validate(value);
  return result.issues === undefined ? { ok: true, value: result.value } : refused(result.issues.map(plainIssue));
}

const plainIssue = ({ message, path = [] }: StandardIssue): SchemaIssue => ({
  message,
  path: path.map((part) => (typeof part === 'object' ? part.key : part)),
});

async function compileJson(schema: JsonSchema, allErrors: boolean): Promise<CompiledSchema> {
  // Loaded with the first JSON Schema, so that a server without its own tools starts faster.
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  // Own properties only: every object has `toString`, but no client sent it as an argument.
  const ajv = new Ajv2020({ strict: false, allErrors, validateFormats: false, ownProperties: true });
  let validate: ReturnType<typeof ajv.compile>;
  try {
    validate = ajv.compile(schema);
  } catch (cause) {
    throw invalid('The schema is not valid JSON Schema 2020-12').withCause(cause);
  }
  return {
    json: schema,
    async check(value) {
      if (validate(value)) return { ok: true, value };
      const errors = validate.errors ?? [];
      return refused(
        errors.map((error) => ({ path: error.instancePath.split('/').slice(1), message: messageOf(error) })),
      );
    },
  };
}

function messageOf(error: { readonly message?: string; readonly params?: Record<string, unknown> }): string {
  const extra = error.params?.additionalProperty;
  return typeof extra === 'string' ? `unknown field ${JSON.stringify(extra)}` : (error.message ?? 'is not valid');
}

function refused(issues: readonly SchemaIssue[]): Checked {
  const problem = issues
    .slice(0, MAX_PROBLEMS)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ');
  return { ok: false, problem, issues };
}
