/** Puts facts about a resource into a line of text. */

import { mayHaveContent } from '../../core/own-content.ts';
import { scrub } from '../../core/text/scrub.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';

/** Bytes per token, roughly. Base64 has fewer, since it is not made of words. */
const TEXT_BYTES_PER_TOKEN = 4;
const BASE64_BYTES_PER_TOKEN = 3;

/** The length of so many bytes in base64, with padding. */
export const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** An estimate of what content costs in a model's context. */
export function tokensOf(kind: 'text' | 'base64', bytes: number): number {
  return kind === 'text'
    ? Math.ceil(bytes / TEXT_BYTES_PER_TOKEN)
    : Math.ceil(base64Length(bytes) / BASE64_BYTES_PER_TOKEN);
}

export const bytesText = (bytes: number): string => (bytes === 1 ? '1 byte' : `${bytes} bytes`);

/** Whether a resource is a container without content of its own. */
export const isContainer = (resource: Resource): boolean =>
  resource.capabilities === undefined ? resource.mimeType === DIRECTORY_MIME_TYPE : !mayHaveContent(resource);

/** The kind of a resource: `directory`, or its type. */
export const kindText = (resource: Resource): string =>
  isContainer(resource) ? 'directory' : (resource.mimeType ?? 'unknown type');

/** URI, kind and size, in one line. */
export function lineOf(resource: Resource): string {
  const size = resource.size === undefined || isContainer(resource) ? [] : [bytesText(resource.size)];
  return oneLine([resource.uri, kindText(resource), ...size].join('  '));
}

/** Makes text of a provider fit into one line. */
export const oneLine = (text: string): string => scrub(text).replace(/[\t\n]+/g, ' ');
