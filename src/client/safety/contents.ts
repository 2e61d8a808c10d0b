/** Checks contents of a server before they are used: their size, and whether they have the type that the server claims. */

import { essenceOf } from '../../core/formats/formats.ts';
import { HEAD_BYTES, verifyType } from '../../core/formats/verify-type.ts';
import { isBinaryType } from '../../core/text/text.ts';
import { base64Size, decodeBase64, utf8Size } from '../base64.ts';
import { ResourceClientError } from '../errors.ts';

/** The most bytes of one item by default: 16 MiB. */
export const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** An item of `resources/read`, an embedded resource's `resource`, or an image or audio block of a result. */
export interface UncheckedContents {
  readonly uri?: string | undefined;
  readonly mimeType?: string | undefined;
  /** Bytes, as the server says. */
  readonly size?: number | undefined;
  readonly text?: string | undefined;
  /** Bytes of an item or an embedded resource, in base64. */
  readonly blob?: string | undefined;
  /** Bytes of an image or audio block, in base64. */
  readonly data?: string | undefined;
}

export interface CheckOptions {
  /** The most bytes after decoding; 16 MiB by default. */
  readonly maxBytes?: number;
}

/** A way in which contents are not as the server says. */
export type ContentProblem =
  /** The bytes are of another type than the claimed one. */
  | 'type-contradicted'
  /** The size differs from the claimed one. */
  | 'size-differs'
  /** The text has halves of surrogate pairs, which UTF-8 cannot hold; they are replaced. */
  | 'not-unicode'
  /** The server claims a text type for bytes that are not UTF-8. */
  | 'not-utf8';

/** Contents whose size is within bounds and whose type is known from the bytes. */
export interface CheckedContents {
  readonly uri: string | undefined;
  /** In lower case, without parameters. If the bytes contradict the claimed type, it is the type of the bytes. */
  readonly mimeType: string | undefined;
  /** As the server sent it. */
  readonly claimedMimeType: string | undefined;
  /** Bytes. */
  readonly size: number;
  /** Defined if the content is text: sent as text, or as bytes of a text type that are UTF-8. */
  readonly text: string | undefined;
  /** Defined if the content was sent as base64. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly problems: readonly ContentProblem[];
}

/**
 * Checks contents (SEC-RES-6, SEC-RES-7). It compares the size with the limit before it decodes base64, and the claimed type
 * with the leading bytes. The bytes alone never make a text HTML: text that looks like HTML stays text.
 * @throws ResourceClientError `too-large`, before decoding; `invalid-answer` for invalid base64, and without any content
 */
export async function checkContents(contents: UncheckedContents, options: CheckOptions = {}): Promise<CheckedContents> {
  const { maxBytes = DEFAULT_MAX_BYTES } = options;
  const claimed = essenceOf(contents.mimeType) || undefined;
  const base64 = contents.blob ?? contents.data;
  const checked =
    typeof contents.text === 'string'
      ? await checkText(contents.text, claimed, maxBytes)
      : typeof base64 === 'string'
        ? await checkBytes(boundedBytes(base64, maxBytes), claimed)
        : undefined;
  if (checked === undefined) throw new ResourceClientError('invalid-answer', 'There is neither text nor base64');
  const problems: ContentProblem[] = [
    ...(claimed !== undefined && checked.mimeType !== claimed ? (['type-contradicted'] as const) : []),
    ...(contents.size !== undefined && contents.size !== checked.size ? (['size-differs'] as const) : []),
    ...checked.problems,
  ];
  return { ...checked, uri: contents.uri, claimedMimeType: contents.mimeType, problems };
}

type Checked = Pick<CheckedContents, 'mimeType' | 'size' | 'text' | 'bytes' | 'problems'>;

async function checkText(text: string, claimed: string | undefined, maxBytes: number): Promise<Checked> {
  const size = utf8Size(text);
  if (size > maxBytes) throw tooLarge(size, maxBytes);
  const wellFormed = text.isWellFormed();
  // Each character has one byte at least, so this many characters are enough for the head.
  const { head } = headOf(new TextEncoder().encode(text.slice(0, HEAD_BYTES)));
  return {
    mimeType: (await verifyType(claimed, head, head.byteLength === size)) ?? 'text/plain',
    size,
    text: wellFormed ? text : text.toWellFormed(),
    bytes: undefined,
    problems: wellFormed ? [] : ['not-unicode'],
  };
}

function boundedBytes(base64: string, maxBytes: number): Uint8Array<ArrayBuffer> {
  const size = base64Size(base64);
  if (size > maxBytes) throw tooLarge(size, maxBytes);
  const bytes = decodeBase64(base64);
  if (bytes === undefined) throw new ResourceClientError('invalid-answer', 'The content is not base64');
  return bytes;
}

async function checkBytes(bytes: Uint8Array<ArrayBuffer>, claimed: string | undefined): Promise<Checked> {
  const { head, complete } = headOf(bytes);
  const mimeType = await verifyType(claimed, head, complete);
  const binary = mimeType === undefined || isBinaryType(mimeType);
  const text = binary ? undefined : decoded(bytes);
  const isText = mimeType?.startsWith('text/') === true;
  return {
    mimeType,
    size: bytes.byteLength,
    text,
    bytes,
    problems: isText && text === undefined ? ['not-utf8'] : [],
  };
}

function headOf(bytes: Uint8Array): { readonly head: Uint8Array; readonly complete: boolean } {
  return { head: bytes.subarray(0, HEAD_BYTES), complete: bytes.byteLength <= HEAD_BYTES };
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function tooLarge(size: number, maxBytes: number): ResourceClientError {
  return new ResourceClientError('too-large', `The content has ${size} bytes; at most ${maxBytes} are taken`, {
    data: { size, maxBytes },
  });
}
