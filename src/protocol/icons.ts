/**
 * Brings the icons of peers into the form of the adopted schema (973-3): `sizes` that are one string, as SEP-973 itself
 * writes them, become an array, and fields that are `null` are dropped. Values that need no change are not copied.
 */
import { type Data, eachOf, isData, withoutNulls } from './data.ts';

const FIELDS = ['mimeType', 'sizes', 'theme'] as const;

/** Mends one icon; returns a value that is not an object as it is. */
export function mendedIcon(value: unknown): unknown {
  if (!isData(value)) return value;
  const icon = withoutNulls(value, FIELDS);
  const { sizes } = icon;
  return typeof sizes === 'string' ? { ...icon, sizes: sizes.split(/\s+/).filter((size) => size !== '') } : icon;
}

/** Mends a list of icons; returns a value that is not a list as it is. */
export const mendedIcons = (value: unknown): unknown => eachOf(value, mendedIcon);

/** Whether the schemas of the protocol accept a value as an icon. */
export const isIcon = (value: unknown): value is Data => {
  if (!isData(value) || typeof value.src !== 'string') return false;
  const { mimeType, sizes, theme } = value;
  return (
    (mimeType === undefined || typeof mimeType === 'string') &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every((size) => typeof size === 'string'))) &&
    (theme === undefined || theme === 'light' || theme === 'dark')
  );
};
