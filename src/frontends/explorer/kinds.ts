/** Tells the kind of a resource, the name of its type, and its icon. */
import { essenceOf } from '../../core/formats/formats.ts';
import { isIconAddress } from '../../core/icons.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { type Kind, kindOfType } from '../resources/kinds.ts';
import { TYPE_NAMES } from './texts.ts';

/** The most characters of an icon in a resource. Instead of a longer one, the picture of its kind is shown. */
const MAX_ICON = 8_192;

/** Whether a resource is a folder: by its capabilities, or by its type if it has none. */
export const isFolder = ({ capabilities, mimeType }: Resource): boolean =>
  capabilities === undefined ? mimeType === DIRECTORY_MIME_TYPE : capabilities.list;

export const kindOf = (resource: Resource): Kind => (isFolder(resource) ? 'folder' : kindOfType(resource.mimeType));

/** Returns the name of a resource's type, such as `Markdown`; the MIME type if it has no name. */
export function typeText(resource: Resource): string {
  if (isFolder(resource)) return TYPE_NAMES[DIRECTORY_MIME_TYPE] ?? '';
  const type = essenceOf(resource.mimeType);
  return TYPE_NAMES[type] ?? type;
}

/** Returns the icon that a resource contains as a `data:` URI. An icon at another address is ignored, because nothing is fetched. */
export function ownIcon({ icons }: Resource): string | undefined {
  if (!Array.isArray(icons)) return undefined;
  const found = icons.find(({ src }) => typeof src === 'string' && src.startsWith('data:') && src.length <= MAX_ICON);
  return found !== undefined && isIconAddress(found.src) && isReadable(found.src) ? found.src : undefined;
}

/** Whether a browser can decode the bytes of a `data:` URI. A browser reports invalid bytes as errors of the page. */
function isReadable(address: string): boolean {
  const [head = '', data = ''] = [address.slice(0, address.indexOf(',')), address.slice(address.indexOf(',') + 1)];
  return !/;base64$/i.test(head) || (/^[A-Za-z0-9+/]+={0,2}$/.test(data) && data.length % 4 !== 1);
}
