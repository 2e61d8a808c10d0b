/** Writes resources as lines for people. */

import type { ListedResource } from '../../../client/shapes.ts';
import { isListable } from '../../../client/shapes.ts';
import { decodedText } from '../../../core/uri.ts';
import { DIRECTORY_MIME_TYPE } from '../../../protocol/resources.ts';
import { type Output, safe } from './output.ts';

/** Colours a name or URI: folders blue, images magenta. */
export function painted(resource: ListedResource, text: string, output: Output): string {
  if (isListable(resource) === true) return output.paint('blue', text);
  return resource.mimeType?.startsWith('image/') === true ? output.paint('magenta', text) : text;
}

/** Writes a size as `4.8K`, in at most five characters. */
export function sizeText(bytes: number | undefined): string {
  if (bytes === undefined) return '-';
  if (bytes < 1_000) return String(bytes);
  let value = bytes;
  for (const unit of ['K', 'M', 'G', 'T', 'P']) {
    value /= 1_024;
    if (value < 9.95) return `${value.toFixed(1)}${unit}`;
    if (value < 1_000) return `${Math.round(value)}${unit}`;
  }
  return '>1E';
}

/** Writes a time as `2026-11-21 22:05`, in the local time zone; `-` for an invalid date. */
export function timeText(value: unknown): string {
  if (typeof value !== 'string') return '-';
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '-';
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Returns the MIME type, or `folder`. */
export const typeText = (resource: ListedResource): string =>
  resource.mimeType === DIRECTORY_MIME_TYPE || (resource.mimeType === undefined && isListable(resource) === true)
    ? 'folder'
    : (resource.mimeType ?? '-');

/** Returns the title of a resource, or its name if it has no title. */
export const titleText = ({ name, title }: ListedResource): string =>
  safe(typeof title === 'string' && title !== '' ? title : name);

/** Writes a row of `ls -l`: size, time, type and URI, and then the title, unless the URI ends with it. */
export function longRow(resource: ListedResource, output: Output): string {
  const { size, annotations, uri } = resource;
  const columns = [
    output.paint('green', sizeText(size).padStart(5)),
    output.paint('dim', timeText(annotations?.lastModified).padEnd(16)),
    safe(typeText(resource)).padEnd(24),
    painted(resource, safe(uri), output),
  ];
  const name = titleText(resource);
  const shown = decodedText(uri).replace(/\/$/, '').endsWith(name) ? '' : `  ${output.paint('dim', name)}`;
  return columns.join('  ') + shown;
}
