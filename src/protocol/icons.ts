/**
 * Icons as peers write them, as the adopted schema has them (973-3): `sizes` that are one text, as SEP-973 itself has them,
 * become an array, and `null` is what is not there. Nothing is copied where all is as it should be.
 */
import { type Data, eachOf, isData, withoutNulls } from './data.ts';

const FIELDS = ['mimeType', 'sizes', 'theme'] as const;

/** One icon; what is no object is left as it is. */
export function mendedIcon(value: unknown): unknown {
  if (!isData(value)) return value;
  const icon = withoutNulls(value, FIELDS);
  const { sizes } = icon;
  return typeof sizes === 'string' ? { ...icon, sizes: sizes.split(/\s+/).filter((size) => size !== '') } : icon;
}

/** A list of icons; what is no list is left as it is. */
export const mendedIcons = (value: unknown): unknown => eachOf(value, mendedIcon);

/** Whether schemas of the protocol take it for an icon. */
export const isIcon = (value: unknown): value is Data => {
  if (!isData(value) || typeof value.src !== 'string') return false;
  const { mimeType, sizes, theme } = value;
  return (
    (mimeType === undefined || typeof mimeType === 'string') &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every((size) => typeof size === 'string'))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
};
