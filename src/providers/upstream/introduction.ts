/** Reduces a mounted server's introduction of itself (973-1) to clean texts and to addresses that run or open nothing (973-4). */
import type { Implementation } from '@modelcontextprotocol/client';
import { isIconAddress, isWebAddress } from '../../core/icons.ts';
import { cleanText } from '../../core/text/clean-text.ts';
import type { Icon } from '../../protocol/resources.ts';
import { MAX_TITLE_LENGTH } from './border/described.ts';

/** The most icons of one server that are kept. */
const MAX_ICONS = 16;
/** The most characters of an icon's address. An icon with a longer one, as `data:` URIs often are, is left out. */
const MAX_ICON_LENGTH = 8_192;

export interface Introduction {
  readonly title?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
}

/** Returns the parts of a server's `serverInfo` that people may see, beside its name and version. */
export function introductionOf(server: Implementation | undefined): Introduction {
  const { title, websiteUrl, icons = [] } = server ?? {};
  const shown = icons.filter(({ src }) => src.length <= MAX_ICON_LENGTH && isIconAddress(src)).slice(0, MAX_ICONS);
  return {
    title: title === undefined ? undefined : cleanText(title, MAX_TITLE_LENGTH),
    websiteUrl: websiteUrl !== undefined && isWebAddress(websiteUrl) ? websiteUrl : undefined,
    icons: shown.length === 0 ? undefined : (shown as readonly Icon[]),
  };
}
