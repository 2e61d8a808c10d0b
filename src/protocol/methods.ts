import { z } from 'zod';
import { MAX_VERSION_LENGTH, MAX_VERSIONS } from './content-version.ts';
import { ACCEPT_META_KEY, IF_VERSION_META_KEY, RANGE_META_KEY } from './meta.ts';
import { MAX_TASK_ID } from './tasks.ts';

/**
 * Loose schemas of the requests that Vitrine answers. They check the fields that handlers use, and keep all others: the
 * SDK's own schemas would strip `uri` from `resources/list` (2093-4).
 */

const uri = z.string().min(1, 'a URI is needed').max(65_536, 'a URI has at most 65,536 characters');
const cursor = z.string().max(65_536).optional();

/** A window of bytes. */
export const range = z.looseObject({
  offset: z.number().int().nonnegative().optional(),
  length: z.number().int().positive().optional(),
});

/** Media types, the best first. */
export const accept = z.array(z.string().min(1).max(255)).min(1).max(64);

const versions = z.array(z.string().max(MAX_VERSION_LENGTH)).min(1).max(MAX_VERSIONS);

const meta = z.looseObject({}).optional();

export const listParams = z.looseObject({ uri: uri.optional(), cursor, _meta: meta }).default({});
export const readParams = z.looseObject({
  uri,
  _meta: z
    .looseObject({
      [RANGE_META_KEY]: range.optional(),
      [ACCEPT_META_KEY]: accept.optional(),
      [IF_VERSION_META_KEY]: versions.optional(),
    })
    .optional(),
});
export const metadataParams = z.looseObject({ uri, _meta: meta });
export const directoryReadParams = z.looseObject({ uri, cursor, _meta: meta });
export const templatesParams = z.looseObject({ cursor, _meta: meta }).default({});
export const subscribeParams = z.looseObject({ uri, _meta: meta });
export const completeParams = z.looseObject({
  ref: z.union([
    z.looseObject({ type: z.literal('ref/resource'), uri: z.string().max(65_536) }),
    z.looseObject({ type: z.literal('ref/prompt'), name: z.string().max(1_024) }),
  ]),
  argument: z.looseObject({ name: z.string().max(1_024), value: z.string().max(65_536) }),
  context: z.looseObject({ arguments: z.record(z.string(), z.string()).optional() }).optional(),
  _meta: meta,
});

export type ListParams = z.infer<typeof listParams>;
export type ReadParams = z.infer<typeof readParams>;
export type MetadataParams = z.infer<typeof metadataParams>;
export type TemplatesParams = z.infer<typeof templatesParams>;
export type CompleteParams = z.infer<typeof completeParams>;

/** The methods that the SDK does not have. */
export const METADATA_METHOD = 'resources/metadata';
export const DIRECTORY_READ_METHOD = 'resources/directory/read';

export const listToolsParams = z.looseObject({ cursor, _meta: meta });
export const callToolParams = z.looseObject({
  name: z.string().max(1_024),
  arguments: z.record(z.string(), z.unknown()).optional(),
  _meta: meta,
});
export const listPromptsParams = z.looseObject({ cursor, _meta: meta });
export const getPromptParams = z.looseObject({
  name: z.string().max(1_024),
  arguments: z.record(z.string(), z.string()).optional(),
  _meta: meta,
});

export const listTasksParams = z.looseObject({ cursor, _meta: meta }).default({});
export const taskParams = z.looseObject({
  taskId: z.string().min(1, 'an id is needed').max(MAX_TASK_ID, `an id has at most ${MAX_TASK_ID} characters`),
  _meta: meta,
});

export type ListToolsParams = z.infer<typeof listToolsParams>;
export type ListPromptsParams = z.infer<typeof listPromptsParams>;
