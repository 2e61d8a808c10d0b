/**
 * Schemas for the entries of another server. They are at least as strict as the schemas of the SDKs, so that no client refuses
 * a list because of one entry. Unknown fields are allowed everywhere.
 */
import { z } from 'zod';
import { stripUnseen } from '../../../core/text/clean-text.ts';
import { MAX_URI_LENGTH } from '../../../core/uri.ts';
import { parseUriTemplate } from '../../../core/uri-template.ts';
import { annotationsSchema, iconSchema, resourceSchema } from '../../../protocol/resource-schemas.ts';
import { skillSchema } from '../../../protocol/skills.ts';

/** The most characters of the name of a tool, prompt or argument. */
const MAX_IDENTIFIER_LENGTH = 1_000;

const MAX_TYPE_LENGTH = 1_000;

const isVisible = (value: string): boolean => stripUnseen(value) === value && !/[\t\n]/.test(value);
const UNSEEN = 'has control characters or invisible characters in it';

const text = z.string();
const object = z.looseObject({});
const identifier = z.string().min(1).max(MAX_IDENTIFIER_LENGTH).refine(isVisible, UNSEEN);

const uri = z
  .string()
  .max(MAX_URI_LENGTH)
  // RFC 3986 does not allow a digit at the beginning of a scheme, but some servers have it.
  .regex(/^[A-Za-z0-9][A-Za-z0-9+.-]*:./s, 'is no URI: it has no scheme')
  .refine(isVisible, UNSEEN)
  .refine((value) => value.isWellFormed(), 'has half of a surrogate pair in it');

const uriTemplate = z
  .string()
  .regex(/^(?:[A-Za-z0-9][A-Za-z0-9+.-]*:|[A-Za-z0-9+.-]*\{)/, 'is no template of URIs: it has no scheme')
  .refine(isVisible, UNSEEN)
  .refine(isTemplate, 'is no URI template');

function isTemplate(value: string): boolean {
  try {
    parseUriTemplate(value);
    return true;
  } catch {
    return false;
  }
}

const mimeType = z.string().max(MAX_TYPE_LENGTH).refine(isVisible, UNSEEN);

const described = {
  title: text.optional(),
  description: text.optional(),
  icons: z.array(iconSchema.extend({ mimeType: mimeType.optional() })).optional(),
  _meta: object.optional(),
};

const ofResources = { ...described, mimeType: mimeType.optional(), annotations: annotationsSchema.optional() };

const resourceFields = { ...resourceSchema.shape, ...ofResources };

const base64 = z.string().refine(isBase64, 'is no base64');

/** Whether the decoders of all clients accept a text. */
function isBase64(value: string): boolean {
  if (value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)) return true;
  try {
    atob(value);
    return true;
  } catch {
    return false;
  }
}

/** If `uri` is missing, the contents have the URI that was read. */
const contents = z
  .looseObject({
    ...resourceFields,
    uri: uri.optional(),
    name: text.optional(),
    text: text.optional(),
    blob: base64.optional(),
  })
  .refine((item) => item.text !== undefined || item.blob !== undefined, 'has neither text nor blob');

/** The schema of a tool's arguments or results, in a form that all clients accept. */
const schema = z.looseObject({
  $schema: text.optional(),
  type: z.union([text, z.array(text)]).optional(),
  properties: z.record(z.string(), object).optional(),
  required: z.array(text).optional(),
});

const block = z.looseObject({ type: text, _meta: object.optional() });
const binary = block.extend({ data: base64, mimeType, annotations: annotationsSchema.optional() });

/** The schemas of the kinds of blocks that the protocol has. A block of another kind passes as it is. */
const BLOCKS: Readonly<Record<string, z.ZodType>> = {
  text: block.extend({ text, annotations: annotationsSchema.optional() }),
  image: binary,
  audio: binary,
  resource: block.extend({ resource: contents.refine((item) => item.uri !== undefined, 'has no uri') }),
  resource_link: block.extend({ ...resourceFields, uri, name: text }),
};

const content = z.unknown().superRefine((value, context) => {
  const kind = (value as { readonly type?: unknown } | null | undefined)?.type;
  const expected = typeof kind === 'string' && Object.hasOwn(BLOCKS, kind) ? BLOCKS[kind] : block;
  const { error } = (expected ?? block).safeParse(value);
  for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path: [...path], message });
});

/** The schema of each kind of entry, by the word for that kind in messages. */
export const SCHEMAS = {
  resource: z.looseObject({ ...resourceFields, uri, name: text.optional() }),
  skill: skillSchema.extend({ uri }),
  'resource template': z.looseObject({ ...ofResources, uriTemplate, name: text }),
  tool: z.looseObject({
    ...described,
    name: identifier,
    inputSchema: schema.extend({ type: z.literal('object') }),
    outputSchema: schema.optional(),
    annotations: z
      .looseObject({
        title: text.optional(),
        readOnlyHint: z.boolean().optional(),
        destructiveHint: z.boolean().optional(),
        idempotentHint: z.boolean().optional(),
        openWorldHint: z.boolean().optional(),
      })
      .optional(),
    execution: z.looseObject({ taskSupport: z.enum(['required', 'optional', 'forbidden']).optional() }).optional(),
  }),
  prompt: z.looseObject({
    ...described,
    name: identifier,
    arguments: z
      .array(
        z.looseObject({
          name: identifier,
          title: text.optional(),
          description: text.optional(),
          required: z.boolean().optional(),
        }),
      )
      .optional(),
  }),
  content: contents,
  block: content,
  message: z.looseObject({ role: z.enum(['user', 'assistant']), content }),
} as const satisfies Readonly<Record<string, z.ZodType>>;

export type EntryKind = keyof typeof SCHEMAS;
