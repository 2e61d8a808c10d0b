/** The formats that a resource can be read in: what is said of them, and which one is wanted where nobody says (2093-8). */
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import { isBinaryType } from '../text/text.ts';

/** One of the formats of a resource. */
export interface Format {
  readonly mimeType: string;
  /** Bytes in this format, where that is known. */
  readonly size?: number | undefined;
}

/** Returns the formats of a resource that its `_meta` names, its own first; undefined where there are fewer than two. */
export function formatsOf({ _meta }: Pick<Resource, '_meta'>): readonly Format[] | undefined {
  const formats = _meta?.[FORMATS_META_KEY];
  if (!Array.isArray(formats)) return undefined;
  const known = formats.filter((each): each is Format => typeof each?.mimeType === 'string');
  return known.length > 1 ? known : undefined;
}

/** Returns a type without parameters, in lower case. */
export const essenceOf = (mimeType = ''): string => (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Texts that are written for programs: to a reader they say little as they are. */
const WRITTEN_FOR_PROGRAMS = /^(?:application\/(?:rtf|x-ipynb\+json)|text\/rtf|message\/rfc822)(?:;|$)/i;

/** Types of content to look at or listen to: a text about it is something else. */
const SEEN_OR_HEARD = /^(?:image|audio|video)\//i;

/**
 * Whether a resource of this type is better read in another form, as text: a document is; a page of HTML or a table is
 * text, and an image is to be seen.
 */
export const isBetterAsText = (mimeType: string | undefined): boolean =>
  mimeType !== undefined &&
  ((isBinaryType(mimeType) && !SEEN_OR_HEARD.test(mimeType)) || WRITTEN_FOR_PROGRAMS.test(mimeType));

/** Text that anybody can read, best first. */
export const TEXT_TYPES: readonly string[] = ['text/markdown', 'text/plain'];

/** The types that a reader of text accepts: the resource as it is where it has no text format, or that cannot be made. */
const TEXT_FIRST: readonly string[] = [...TEXT_TYPES, '*/*'];

/** Returns the types to accept of a resource whose text is wanted; undefined where it is best as it is or has one format. */
export const textFirst = (resource: Pick<Resource, '_meta' | 'mimeType'>): readonly string[] | undefined =>
  isBetterAsText(resource.mimeType) && formatsOf(resource) !== undefined ? TEXT_FIRST : undefined;
