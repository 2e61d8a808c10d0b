/**
 * An OpenAPI document as far as it is read here: GET operations and their parameters. References lead into it only. Each
 * part of it is looked at once, however many operations share it, and nothing is copied but what is used.
 */

import { ResourceError } from 'vitrine/plug-in';
import { parseDocument, visit } from 'yaml';
import { z } from 'zod';

/** The most bytes of a document. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/**
 * As JSON is read, the last of two keys of one name counts: to look for them, the library compares each key with each.
 * Keys are texts. Errors without a piece of the source, which would be looked for anew for each.
 */
const YAML = {
  uniqueKeys: false,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'error',
} as const;

/** Aliases in one document, and what all uses of one of them may make of it: to follow each, the library walks the document. */
const MAX_ALIASES = 1_000;
const MAX_ALIAS_COUNT = 100;

/** @throws Error */
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

/** The most references in a row, each of which leads to the next. */
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

export interface Api {
  readonly document: ApiDocument;
  path(value: unknown): ApiPath | undefined;
  operation(value: unknown): ApiOperation | undefined;
  parameter(value: unknown): ApiParameter | undefined;
  schema(value: unknown): ApiSchema | undefined;
  /** The value itself, or what its reference leads to within the document; undefined where that is nothing. */
  resolve(value: unknown): unknown;
}

/** @throws ResourceError `invalid` with what is wrong in it; never with its text */
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

/** The same answer for the same object, found once. */
export function once<T>(find: (value: unknown) => T): (value: unknown) => T {
  const known = new WeakMap<object, { readonly found: T }>();
  return (value) => {
    if (typeof value !== 'object' || value === null) return find(value);
    const before = known.get(value);
    if (before !== undefined) return before.found;
    const found = find(value);
    known.set(value, { found });
    return found;
  };
}

/** Follows a JSON pointer (RFC 6901). One that leads out of the document leads nowhere: nothing is fetched. */
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
