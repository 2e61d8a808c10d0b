/** Tells whether a resource may have content of its own, and whether a walk over everything goes into it. */
import { WALK_META_KEY } from '../protocol/meta.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../protocol/resources.ts';

/**
 * Whether a resource may have content of its own to read. So may a container whose MIME type is not that of a directory, as
 * mounted servers have them (2093-7, 2093-13).
 */
export const mayHaveContent = ({ mimeType, capabilities }: Resource): boolean =>
  capabilities?.list !== true || (mimeType !== undefined && mimeType !== DIRECTORY_MIME_TYPE);

/** Whether a walk over everything goes into a resource: into every container, except one with `vitrine/walk: false`. */
export const isWalked = ({ capabilities, _meta }: Resource): boolean =>
  capabilities?.list === true && _meta?.[WALK_META_KEY] !== false;
