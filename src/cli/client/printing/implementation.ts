/** A server's description of itself (973-5), as lines of plain text: title, description, website and icons. */
import { safe, valueText } from './output.ts';

/** The fields of a `serverInfo` that are shown. Each may be of any type. */
export interface ShownImplementation {
  readonly title?: unknown;
  readonly description?: unknown;
  readonly websiteUrl?: unknown;
  readonly icons?: unknown;
}

/** The most characters of an address or a text that are shown. */
const MAX_ADDRESS = 500;

/** Returns labels with their texts; a text is undefined if the server does not give it. */
export function implementationLines({
  title,
  description,
  websiteUrl,
  icons,
}: ShownImplementation): readonly (readonly [label: string, text: string | undefined])[] {
  return [
    ['Title', textOf(title)],
    ['About', textOf(description)],
    ['Website', textOf(websiteUrl)],
    ['Icons', iconsText(icons)],
  ];
}

/** Returns the addresses and sizes of icons in one line. An icon in a `data:` URI is shown by its type. */
export const iconsText = (icons: unknown): string | undefined =>
  Array.isArray(icons) && icons.length > 0 ? icons.map(iconText).join(', ') : undefined;

function iconText(icon: unknown): string {
  const { src = '', mimeType, sizes } = (icon ?? {}) as Readonly<Record<string, unknown>>;
  const address = valueText(src);
  const place = address.startsWith('data:')
    ? `embedded ${valueText(mimeType ?? 'image')}`
    : address.length > MAX_ADDRESS
      ? `${address.slice(0, MAX_ADDRESS)}…`
      : address;
  const fits = Array.isArray(sizes) ? sizes.map(valueText).join(' ') : '';
  return safe(fits === '' ? place : `${place} (${fits})`);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? safe(value.length > MAX_ADDRESS ? `${value.slice(0, MAX_ADDRESS)}…` : value)
    : undefined;
