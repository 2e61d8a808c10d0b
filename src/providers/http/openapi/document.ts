/** An OpenAPI document as far as it is read here: GET operations and their parameters. References lead into it only. */
import { parse } from 'yaml';
import { z } from 'zod';
import { ResourceError } from '../../../core/errors.ts';

/** The most bytes of a document. */
export const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;

/** References that lead on to references. */
const MAX_REFERENCES = 16;

const reference = z.looseObject({ $ref: z.string().max(1_024) });
const text = z.string().catch('').optional();

const schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  items: z.unknown().optional(),
});

const parameter = z.looseObject({
  name: z.string().min(1).max(256),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  required: z.boolean().optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
  description: text,
  schema: z.unknown().optional(),
  content: z.unknown().optional(),
});

const operation = z.looseObject({
  operationId: text,
  summary: text,
  description: text,
  parameters: z.array(z.unknown()).optional(),
  responses: z.record(z.string(), z.unknown()).optional(),
  servers: z.unknown().optional(),
});

const path = z.looseObject({
  get: z.unknown().optional(),
  summary: text,
  description: text,
  parameters: z.array(z.unknown()).optional(),
  servers: z.unknown().optional(),
});

const server = z.looseObject({
  url: z.string().max(8_192),
  variables: z.record(z.string(), z.looseObject({ default: z.coerce.string() })).optional(),
});

const document = z.looseObject({
  openapi: z.string().regex(/^3\.[01]\./, 'is not 3.0 or 3.1'),
  info: z.looseObject({ title: text }).optional(),
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
    content = /^\s*\{/.test(source) ? JSON.parse(source) : parse(source, { maxAliasCount: 100, logLevel: 'error' });
  } catch (cause) {
    throw wrong('is neither JSON nor YAML', cause);
  }
  const checked = document.safeParse(content);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw wrong(`is no OpenAPI document of version 3.0 or 3.1: ${issue?.path.map(String).join('.')} ${issue?.message}`);
  }

  function resolve(value: unknown): unknown {
    let at = value;
    for (let step = 0; step <= MAX_REFERENCES; step++) {
      const found = reference.safeParse(at);
      if (!found.success) return at;
      at = pointed(checked.data, found.data.$ref);
    }
    return undefined;
  }

  const as =
    <T>(type: z.ZodType<T>) =>
    (value: unknown): T | undefined =>
      type.safeParse(resolve(value)).data;

  return {
    document: checked.data,
    resolve,
    path: as(path),
    operation: as(operation),
    parameter: as(parameter),
    schema: as(schema),
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
