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

/** The most icons that are shown. */
const MAX_ICONS = 10;

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

/**
 * Returns the addresses and sizes of the first icons in one line, and how many more there are. An icon in a `data:` URI has its
 * type instead of its address.
 */
export function iconsText(icons: unknown): string | undefined {
  if (!Array.isArray(icons) || icons.length === 0) return undefined;
  const shown = icons.slice(0, MAX_ICONS).map(iconText);
  return [...shown, ...(icons.length > MAX_ICONS ? [`and ${icons.length - MAX_ICONS} more`] : [])].join(', ');
}

function iconText(icon: unknown): string {
  const { src = '', mimeType, sizes } = (icon ?? {}) as Readonly<Record<string, unknown>>;
  const address = valueText(src);
  const place = address.startsWith('data:')
    ? `embedded ${shortened(valueText(mimeType ?? 'image'))}`
    : shortened(address);
  const fits = Array.isArray(sizes) ? shortened(sizes.slice(0, MAX_ADDRESS).map(valueText).join(' ')) : '';
  return safe(fits === '' ? place : `${place} (${fits})`);
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? safe(shortened(value)) : undefined;

const shortened = (text: string): string => (text.length > MAX_ADDRESS ? `${text.slice(0, MAX_ADDRESS)}…` : text);
