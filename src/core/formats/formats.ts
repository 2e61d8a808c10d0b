/** Finds the formats in which a resource can be read, and decides which is best for a reader that names none (2093-8). */
import { FORMATS_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import { isBinaryType } from '../text/text.ts';

/** One of the formats of a resource. */
export interface Format {
  readonly mimeType: string;
  /** Bytes in this format, if that is known. */
  readonly size?: number | undefined;
}

/** Returns the formats of a resource that its `_meta` names, its own first; undefined if there are fewer than two. */
export function formatsOf({ _meta }: Pick<Resource, '_meta'>): readonly Format[] | undefined {
  const formats = _meta?.[FORMATS_META_KEY];
  if (!Array.isArray(formats)) return undefined;
  const valid = formats.filter((format): format is Format => typeof format?.mimeType === 'string');
  return valid.length > 1 ? valid : undefined;
}

/** Returns a media type without its parameters, in lower case; empty for none. */
export const essenceOf = (mimeType?: string | null): string => (mimeType?.split(';', 1)[0] ?? '').trim().toLowerCase();

/** Types of text that are written for programs, and hard to read as they are. */
const WRITTEN_FOR_PROGRAMS = /^(?:application\/(?:rtf|x-ipynb\+json)|text\/rtf|message\/rfc822)(?:;|$)/i;

/** Types of content to look at or listen to, which no text can replace. */
const SEEN_OR_HEARD = /^(?:image|audio|video)\//i;

/**
 * Whether a resource of this type is better read in a format that is plain text. A document is. A page of HTML or a table is
 * text already, and an image is to be seen.
 */
export const isBetterAsText = (mimeType: string | undefined): boolean =>
  mimeType !== undefined &&
  ((isBinaryType(mimeType) && !SEEN_OR_HEARD.test(mimeType)) || WRITTEN_FOR_PROGRAMS.test(mimeType));

/** Types of text that every reader can read, best first. */
export const TEXT_TYPES: readonly string[] = ['text/markdown', 'text/plain'];

/** The types that a reader of text accepts. The last one is for the resource as it is, if no text can be made of it. */
const TEXT_FIRST: readonly string[] = [...TEXT_TYPES, '*/*'];

/** Returns the types to accept if the text of a resource is wanted; undefined if it is best as it is, or has only one format. */
export const textFirst = (resource: Pick<Resource, '_meta' | 'mimeType'>): readonly string[] | undefined =>
  isBetterAsText(resource.mimeType) && formatsOf(resource) !== undefined ? TEXT_FIRST : undefined;
