/** Tells whether a resource may have content of its own, beside the resources in it. */
import { DIRECTORY_MIME_TYPE, type Resource } from '../protocol/resources.ts';

/**
 * Whether it may have content of its own to read. A container may, too: of mounted servers, where its type is not that of a directory
 * (2093-7, 2093-13).
 */
export const mayHaveContent = ({ mimeType, capabilities }: Resource): boolean =>
  capabilities?.list !== true || (mimeType !== undefined && mimeType !== DIRECTORY_MIME_TYPE);
