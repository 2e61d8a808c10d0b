/** Parts of the schemas that several tools share. */

import { z } from 'zod';
import type { AccessOutline } from '../../core/access.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import { MAX_MOUNT_NAME_LENGTH } from '../../core/mounts.ts';
import { MAX_URI_LENGTH } from '../../core/uri.ts';

/**
 * A text of 1 to `max` characters. The lengths are checked, but are not in the schema that models get: they would only take room in
 * a model's context.
 */
export const textArgument = (max: number) =>
  z.string().refine((text) => text.length > 0 && text.length <= max, `has 1 to ${max} characters`);

export const uriArgument = textArgument(MAX_URI_LENGTH);

export const cursorArgument = textArgument(65_536).describe('nextCursor of the page before, with the same arguments');

export const mountArgument = (mounts: KnownMounts) =>
  textArgument(MAX_MOUNT_NAME_LENGTH).describe(`Only this mount.${mountHint(mounts)}`);

/** A resource in structured content. The schema names only its URI, because providers may add fields that are not known here. */
export const resourceOutput = z.object({ uri: z.string() });

export const nextCursorOutput = z.string().optional();

interface KnownMounts {
  readonly mounts: readonly Mount[];
  readonly access?: AccessOutline | undefined;
}

/** The mounts that a caller may know of. */
export const seenMounts = ({ mounts, access }: KnownMounts, { principal }: Context): readonly Mount[] =>
  mounts.filter(({ name }) => access?.could(principal, { operation: 'list', mount: name }) !== false);

/** @throws ResourceError `invalid` where the caller knows no mount of this name */
export function seenMount(known: KnownMounts, name: string, ctx: Context): Mount {
  const mounts = seenMounts(known, ctx);
  const mount = mounts.find((each) => each.name === name);
  if (mount === undefined) {
    const others = mounts.length === 0 ? 'you may see none' : `there are: ${mountNames(mounts)}`;
    throw invalid(`There is no mount named ${JSON.stringify(name)}; ${others}`);
  }
  return mount;
}

/** Returns a text with the names of mounts for the description of a tool; empty if some callers may not know all mounts. */
export const mountHint = ({ mounts, access }: KnownMounts): string =>
  access === undefined ? ` Mounts: ${mountNames(mounts)}` : '';

/** Names of mounts, for a description or an error; not more than a model can use. */
export function mountNames(mounts: readonly { readonly name: string }[]): string {
  const shown = mounts.slice(0, 30).map((mount) => mount.name);
  return `${shown.join(', ')}${mounts.length > shown.length ? ', and others' : ''}`;
}
