/** Describes a resource that has other formats (2093-8), and a resource in one of them (2093-6). */
import { CHARSET_META_KEY, DECLARED_MIME_TYPE_META_KEY, FORMATS_META_KEY } from '../../protocol/meta.ts';
import type { Resource } from '../../protocol/resources.ts';
import type { Format } from './catalogue.ts';

/** Adds the list of formats to a resource, its own first. The formats follow from its type: nothing is read or converted. */
export function withFormats(resource: Resource, formats: readonly Format[]): Resource {
  const { mimeType, size } = resource;
  const original = { mimeType, ...(size !== undefined && { size }) };
  const all = [original, ...formats.map((format) => ({ mimeType: format.mimeType }))];
  return { ...resource, _meta: { ...resource._meta, [FORMATS_META_KEY]: all } };
}

/** Describes a resource in one of its formats. Leaves out the declared type and the charset, which are the original's. */
export function inFormat(resource: Resource, mimeType: string, size: number): Resource {
  const { [DECLARED_MIME_TYPE_META_KEY]: _declared, [CHARSET_META_KEY]: _charset, ...meta } = resource._meta ?? {};
  return { ...resource, mimeType, size, _meta: meta };
}
