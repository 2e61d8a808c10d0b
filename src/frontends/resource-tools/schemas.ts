/** Parts of the schemas that several tools share. */

import { z } from 'zod';
import type { AccessOutline } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { MAX_URI_LENGTH } from '../../core/uri.ts';

export const uriArgument = z.string().min(1).max(MAX_URI_LENGTH);

export const cursorArgument = z
  .string()
  .min(1)
  .max(65_536)
  .describe('nextCursor of the page before, to go on behind it; send the same other arguments');

/** A resource in structured content: providers may say more of it than is known here. */
export const resourceOutput = z.looseObject({
  uri: z.string(),
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().optional(),
  size: z.number().optional().describe('Bytes of the raw content'),
  annotations: z.looseObject({}).optional(),
  capabilities: z.looseObject({ list: z.boolean(), subscribe: z.boolean() }).optional(),
});

interface KnownMounts {
  readonly mounts: readonly Mount[];
  readonly access?: AccessOutline | undefined;
}

/** The mounts that a caller may know of. */
export const seenMounts = ({ mounts, access }: KnownMounts, { principal }: Context): readonly Mount[] =>
  mounts.filter(({ name }) => access?.could(principal, { operation: 'list', mount: name }) !== false);

/** For the description of a tool, which everybody reads: names only where everybody may know them. */
export const mountHint = ({ mounts, access }: KnownMounts): string =>
  access === undefined ? ` Mounts: ${mountNames(mounts)}` : '';

/** Names of mounts, for a description or an error; not more than a model can use. */
export function mountNames(mounts: readonly { readonly name: string }[]): string {
  const shown = mounts.slice(0, 30).map((mount) => mount.name);
  return `${shown.join(', ')}${mounts.length > shown.length ? ', and others' : ''}`;
}
