/**
 * Reads the GET operations of an OpenAPI document and their parameters. References lead to places within the document only.
 * Each part is parsed once, however many operations share it, and only parts that are used are copied.
 */

import { ResourceError } from 'vitrine/plug-in';
import { parseDocument, visit } from 'yaml';
import { z } from 'zod';

/** The most bytes of a document. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/**
 * The options keep hostile documents cheap to read. Of two equal keys the last counts, as in JSON: to find such keys, the
 * library would compare every key with every other. Keys are texts. Errors quote no source: each quotation takes a search.
 */
const YAML = {
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** The most aliases in a document, and the most copies that the uses of one alias may make: the library follows each anew. */
const MAX_ALIASES = 1_000;
const MAX_ALIAS_COUNT = 100;

/** @throws Error for a text that is not YAML, or has too many aliases */
function parseYaml(source: string): unknown {
  const parsed = parseDocument(source, YAML);
  const [broken] = parsed.errors;
  if (broken !== undefined) throw broken;
  let aliases = 0;
  visit(parsed, {
    Alias() {
      if (++aliases > MAX_ALIASES) throw new Error('It has too many aliases');
    },
  });
  return parsed.toJS({ maxAliasCount: MAX_ALIAS_COUNT });
}

const isJson = (source: string): boolean => /^\s*\{/.test(source);

/** The most references that are followed one after the other. */
const MAX_REFERENCES = 16;

const reference = z.object({ $ref: z.string().max(1_024) });
const text = z.string().catch('').optional();

const schema = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  items: z.unknown().optional(),
});

const parameter = z.object({
  name: z.string().min(1).max(256),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
  description: text,
  schema: z.unknown().optional(),
  content: z.unknown().optional(),
});

const operation = z.object({
  operationId: text,
  summary: text,
  description: text,
  parameters: z.array(z.unknown()).optional(),
  responses: z.record(z.string(), z.unknown()).optional(),
  servers: z.unknown().optional(),
});

const path = z.object({
  get: z.unknown().optional(),
  summary: text,
  description: text,
  parameters: z.array(z.unknown()).optional(),
  servers: z.unknown().optional(),
});

const server = z.object({
  url: z.string().max(8_192),
  variables: z.record(z.string(), z.object({ default: z.coerce.string() })).optional(),
});

const document = z.object({
  openapi: z.string().regex(/^3\.[01]\./, 'is not 3.0 or 3.1'),
  servers: z.array(server).optional(),
  paths: z.record(z.string(), z.unknown()).optional(),
});

export type ApiDocument = z.infer<typeof document>;
export type ApiOperation = z.infer<typeof operation>;
export type ApiPath = z.infer<typeof path>;
export type ApiParameter = z.infer<typeof parameter>;
export type ApiSchema = z.infer<typeof schema>;

/** A parsed document. Each method checks a value of the document, and returns undefined for an invalid one. */
export interface Api {
  readonly document: ApiDocument;
  path(value: unknown): ApiPath | undefined;
  operation(value: unknown): ApiOperation | undefined;
  parameter(value: unknown): ApiParameter | undefined;
  schema(value: unknown): ApiSchema | undefined;
  /** Returns the value itself or, for a reference, the value in the document that it leads to; undefined if there is none. */
  resolve(value: unknown): unknown;
}

/**
 * @param what the name of the document in errors
 * @throws ResourceError `invalid`, which says what is wrong but never quotes the document
 */
export function parseApi(source: string, what: string): Api {
  const wrong = (why: string, cause?: unknown): ResourceError =>
    new ResourceError('invalid', `${what} ${why}`, { cause });
  if (Buffer.byteLength(source) > MAX_DOCUMENT_BYTES) throw wrong(`has more than ${MAX_DOCUMENT_BYTES} bytes`);
  let content: unknown;
  try {
    content = isJson(source) ? JSON.parse(source) : parseYaml(source);
  } catch (cause) {
    throw wrong('is neither JSON nor YAML', cause);
  }
  const checked = document.safeParse(content);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw wrong(`is no OpenAPI document of version 3.0 or 3.1: ${issue?.path.map(String).join('.')} ${issue?.message}`);
  }

  const followed = new Map<string, unknown>();

  function resolve(value: unknown): unknown {
    let at = value;
    for (let step = 0; step <= MAX_REFERENCES; step++) {
      const found = reference.safeParse(at);
      if (!found.success) return at;
      const { $ref } = found.data;
      if (!followed.has($ref)) followed.set($ref, pointed(content, $ref));
      at = followed.get($ref);
    }
    return undefined;
  }

  const as = <T>(type: z.ZodType<T>): ((value: unknown) => T | undefined) => {
    const parsed = once((value) => type.safeParse(value).data);
    return (value) => parsed(resolve(value));
  };

  return {
    document: checked.data,
    resolve,
    path: as(path),
    operation: as(operation),
    parameter: as(parameter),
    schema: as(schema),
  };
}

/** Returns a function that calls `find` only once for the same object. */
export function once<T>(find: (value: unknown) => T): (value: unknown) => T {
  const results = new WeakMap<object, { readonly found: T }>();
  return (value) => {
    if (typeof value !== 'object' || value === null) return find(value);
    const before = results.get(value);
    if (before !== undefined) return before.found;
    const found = find(value);
    results.set(value, { found });
    return found;
  };
}

/** Follows a JSON pointer (RFC 6901). A reference to another document gives undefined: nothing is fetched. */
function pointed(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = unescaped(part);
    if (typeof at !== 'object' || at === null || key === undefined || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function unescaped(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
