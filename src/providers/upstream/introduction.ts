/** How a mounted server introduces itself (973-1): clean texts, and addresses that neither run nor open anything (973-4). */
import type { Implementation } from '@modelcontextprotocol/client';
import { isIconAddress, isWebAddress } from '../../core/icons.ts';
import { cleanText } from '../../core/text/clean-text.ts';
import type { Icon } from '../../protocol/resources.ts';
import { MAX_TITLE_LENGTH } from './border/described.ts';

/** Icons of one server that are kept, and characters of the address of one; images in `data:` URIs may be longer, and are not kept. */
const MAX_ICONS = 16;
const MAX_ICON_LENGTH = 8_192;

export interface Introduction {
  readonly title?: string | undefined;
  readonly websiteUrl?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
}

/** Returns what people may be shown of a server's `serverInfo`, beside its name and version. */
export function introductionOf(server: Implementation | undefined): Introduction {
  const { title, websiteUrl, icons = [] } = server ?? {};
  const shown = icons.filter(({ src }) => src.length <= MAX_ICON_LENGTH && isIconAddress(src)).slice(0, MAX_ICONS);
  return {
    title: title === undefined ? undefined : cleanText(title, MAX_TITLE_LENGTH),
    websiteUrl: websiteUrl !== undefined && isWebAddress(websiteUrl) ? websiteUrl : undefined,
    icons: shown.length === 0 ? undefined : (shown as readonly Icon[]),
  };
}
