/** Zod schemas of resources as servers send them (2093-1 to 2093-6). Unknown fields pass everywhere (2093-11). */
import { z } from 'zod';

const text = z.string();
const meta = z.looseObject({}).optional();

/** `capabilities` of one resource; a flag that is absent is false (2093-3, 2093-12). */
export const capabilitiesSchema = z.looseObject({ list: z.boolean().optional(), subscribe: z.boolean().optional() });

/** An icon (973-3). */
export const iconSchema = z.looseObject({
  src: text,
  mimeType: text.optional(),
  sizes: z.array(text).optional(),
  theme: z.enum(['light', 'dark']).optional(),
});

/** Hints about how a resource may be used. */
export const annotationsSchema = z.looseObject({
  audience: z.array(z.enum(['user', 'assistant'])).optional(),
  priority: z.number().min(0).max(1).optional(),
  lastModified: text.optional(),
});

/** A resource in a list or in metadata. `size` is in bytes, before base64. */
export const resourceSchema = z.looseObject({
  uri: text.min(1),
  name: text,
  title: text.optional(),
  description: text.optional(),
  mimeType: text.optional(),
  size: z.number().int().min(0).optional(),
  icons: z.array(iconSchema).optional(),
  annotations: annotationsSchema.optional(),
  capabilities: capabilitiesSchema.optional(),
  _meta: meta,
});

/** An item of a read: a resource with UTF-8 text or base64. Servers from before SEP-2093 send no name. */
export const contentsSchema = z.union([
  resourceSchema.extend({ name: text.optional(), text }),
  resourceSchema.extend({ name: text.optional(), blob: text.meta({ contentEncoding: 'base64' }) }),
]);

export const listResultSchema = z.looseObject({
  resources: z.array(resourceSchema),
  nextCursor: text.optional(),
  _meta: meta,
});

export const metadataResultSchema = z.looseObject({ resource: resourceSchema, _meta: meta });

export const readResultSchema = z.looseObject({ contents: z.array(contentsSchema), _meta: meta });
