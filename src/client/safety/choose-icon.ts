/** Which of several icons fits best where one is shown (973-6). */
import type { Icon } from '../../protocol/resources.ts';
import { ICON_TYPES, iconType } from './trust.ts';

export interface IconWish {
  /** Width in pixels at which it is shown. Default: 48. */
  readonly size?: number | undefined;
  /** The background that it is shown on. Default: an icon for either fits. */
  readonly theme?: 'light' | 'dark' | undefined;
}

/** Sizes of an icon that are looked at. */
const MAX_SIZES = 32;

/**
 * Returns the icon that fits best; undefined where none is of a type that is shown. Icons of the other theme come last. Of the
 * others the smallest one that is large enough is taken, or one for any size, and else the largest. Whether it may be shown is
 * what `trustedIcons` says, so give it what that returns.
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

/** The best width that it has; without `sizes` it fits any. */
function widthOf({ sizes }: Icon, wanted: number): number {
  if (sizes === undefined || sizes.length === 0) return wanted;
  const widths = sizes.slice(0, MAX_SIZES).map((each) => (/^any$/i.test(each) ? wanted : Number.parseInt(each, 10)));
  return (
    widths.filter((each) => each > 0).sort((one, other) => distance(one, wanted) - distance(other, wanted))[0] ?? 0
  );
}

/** Less is better: an image that is too small looks worse than any that is too large. */
const distance = (width: number, wanted: number): number =>
  width >= wanted ? width - wanted : Number.MAX_SAFE_INTEGER / 2 - width;
