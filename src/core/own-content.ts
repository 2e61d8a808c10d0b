/** Tells whether a resource may have content of its own, and whether to go into it for the resources in it. */
import { WALK_META_KEY } from '../protocol/meta.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../protocol/resources.ts';

/**
 * Whether it may have content of its own to read. A container may, too: of mounted servers, where its type is not that of a directory
 * (2093-7, 2093-13).
 */
export const mayHaveContent = ({ mimeType, capabilities }: Resource): boolean =>
  capabilities?.list !== true || (mimeType !== undefined && mimeType !== DIRECTORY_MIME_TYPE);

/** Whether somebody who walks over everything goes into it: not where it says `vitrine/walk: false`. */
export const isWalked = ({ capabilities, _meta }: Resource): boolean =>
  capabilities?.list === true && _meta?.[WALK_META_KEY] !== false;
