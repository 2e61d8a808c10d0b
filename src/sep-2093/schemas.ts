/** The Zod schemas of SEP-2093 by name; `schema/sep-2093.schema.json` is generated from them. */
import { listParams, metadataParams } from '../protocol/methods.ts';
import {
  capabilitiesSchema,
  contentsSchema,
  listResultSchema,
  metadataResultSchema,
  readResultSchema,
  resourceSchema,
} from '../protocol/resource-schemas.ts';

/** All schemas accept and keep unknown fields (2093-11). Use them to parse messages of a peer. */
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
