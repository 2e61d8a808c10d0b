/** The kind of a resource in a word, and the picture that stands for it. */
import { essenceOf } from '../../core/formats/formats.ts';
import { isIconAddress } from '../../core/icons.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { type Kind, kindOfType } from '../resources/kinds.ts';
import { TYPE_NAMES } from './texts.ts';

/** The most characters of an icon that a server sends along; with more, the picture of the kind takes its place. */
const MAX_ICON = 8_192;

/** It has a list of its own, or is of the type that has. */
export const isFolder = ({ capabilities, mimeType }: Resource): boolean =>
  capabilities === undefined ? mimeType === DIRECTORY_MIME_TYPE : capabilities.list;

export const kindOf = (resource: Resource): Kind => (isFolder(resource) ? 'folder' : kindOfType(resource.mimeType));

/** As in `Markdown`; the type itself where it has no name. */
export function typeText(resource: Resource): string {
  if (isFolder(resource)) return TYPE_NAMES[DIRECTORY_MIME_TYPE] ?? '';
  const type = essenceOf(resource.mimeType);
  return TYPE_NAMES[type] ?? type;
}

/** The icon that a server sends along with it. Nothing is fetched: one that is elsewhere is not shown. */
export function ownIcon({ icons }: Resource): string | undefined {
  if (!Array.isArray(icons)) return undefined;
  const found = icons.find(({ src }) => typeof src === 'string' && src.startsWith('data:') && src.length <= MAX_ICON);
  return found !== undefined && isIconAddress(found.src) && isReadable(found.src) ? found.src : undefined;
}

/** Whether a `data:` URI has bytes that a browser can decode: it reports others as errors of the page. */
function isReadable(address: string): boolean {
  const [head = '', data = ''] = [address.slice(0, address.indexOf(',')), address.slice(address.indexOf(',') + 1)];
  return !/;base64$/i.test(head) || (/^[A-Za-z0-9+/]+={0,2}$/.test(data) && data.length % 4 !== 1);
}
