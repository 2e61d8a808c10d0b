/** The Zod schemas of SEP-2093 by the names of what they describe; `schema/sep-2093.schema.json` is made of them. */
import { listParams, metadataParams } from '../protocol/methods.ts';
import {
  capabilitiesSchema,
  contentsSchema,
  listResultSchema,
  metadataResultSchema,
  readResultSchema,
  resourceSchema,
} from '../protocol/resource-schemas.ts';

/** Unknown fields pass all of them (2093-11). Parse what a peer sends; nothing is stripped. */
export const RESOURCE_HIERARCHY_SCHEMAS = {
  ResourceCapabilities: capabilitiesSchema,
  Resource: resourceSchema,
  ResourceContents: contentsSchema,
  ListResourcesRequestParams: listParams,
  ListResourcesResult: listResultSchema,
  ReadResourceMetadataRequestParams: metadataParams,
  ReadResourceMetadataResult: metadataResultSchema,
  ReadResourceResult: readResultSchema,
} as const;
