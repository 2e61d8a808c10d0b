/** Chooses the icon that fits best (973-6). */
import type { Icon } from '../../protocol/resources.ts';
import { ICON_TYPES, iconType } from './trust.ts';

export interface IconWish {
  /** The width in pixels at which the icon is shown. Default: 48. */
  readonly size?: number | undefined;
  /** The background on which the icon is shown. Default: icons for either background fit. */
  readonly theme?: 'light' | 'dark' | undefined;
}

/** The most sizes of one icon that are looked at. */
const MAX_SIZES = 32;

/**
 * Returns the icon that fits best; undefined if none has a type that is shown. It prefers icons for the theme, then the smallest
 * icon that is large enough or one for any size, then the largest. It does not check whether an icon may be shown: pass it
 * the icons that `trustedIcons` returns.
 */
export function chooseIcon<T extends Icon>(icons: readonly T[] | undefined, wish: IconWish = {}): T | undefined {
  const { size = 48, theme } = wish;
  const rank = (icon: T): readonly [number, number] => [
    icon.theme === undefined || theme === undefined || icon.theme === theme ? 0 : 1,
    distance(widthOf(icon, size), size),
  ];
  const shown = (icons ?? []).filter(
    ({ mimeType }) => mimeType === undefined || ICON_TYPES.has(iconType(mimeType) ?? ''),
  );
  const ranked = shown.map((icon) => ({ icon, rank: rank(icon) }));
  return ranked.sort((one, other) => one.rank[0] - other.rank[0] || one.rank[1] - other.rank[1])[0]?.icon;
}

/** Returns the width of the icon that is nearest to the wanted one. An icon without `sizes` fits any width. */
function widthOf({ sizes }: Icon, wanted: number): number {
  if (sizes === undefined || sizes.length === 0) return wanted;
  const widths = sizes.slice(0, MAX_SIZES).map((size) => (/^any$/i.test(size) ? wanted : Number.parseInt(size, 10)));
  return (
    widths.filter((width) => width > 0).sort((one, other) => distance(one, wanted) - distance(other, wanted))[0] ?? 0
  );
}

/** Less is better: an image that is too small looks worse than one that is too large, however large. */
const distance = (width: number, wanted: number): number =>
  width >= wanted ? width - wanted : Number.MAX_SAFE_INTEGER / 2 - width;
