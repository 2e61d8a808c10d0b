/** Text of a server for a terminal: no escapes, no control characters, nothing that is there and not seen. */
import { stripControls } from '../../core/scrub.ts';

/** Characters of a single line that are kept, unless told otherwise. */
export const DEFAULT_LINE_LENGTH = 8_192;

/**
 * Characters without a picture: direction marks, zero-width characters, line separators, and the tag characters in which
 * whole sentences can be hidden from a reader. Joiners stay, since scripts and emoji need them.
 */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

export interface TerminalOptions {
  /** Whether tabs and line feeds stay; false by default, which makes a name one line. */
  readonly lines?: boolean;
  /** Characters that are kept; 8,192 by default for one line, unlimited with `lines`. */
  readonly maxLength?: number;
}

/**
 * Text as a terminal may have it: escape sequences, C0 and C1 controls, bidirectional overrides and invisible characters
 * are taken out. Holds for each piece of a stream as well, since no escape character is ever left.
 */
export function forTerminal(text: string, options: TerminalOptions = {}): string {
  const { lines = false, maxLength = lines ? Number.POSITIVE_INFINITY : DEFAULT_LINE_LENGTH } = options;
  const cut = text.length > maxLength ? `${text.slice(0, Math.max(0, maxLength - 1)).toWellFormed()}…` : text;
  const seen = stripControls(cut.replace(/\r\n/g, '\n')).replace(INVISIBLE, '');
  return lines ? seen : seen.replace(/[\t\n]+/g, ' ');
}

/** Whether text holds characters that a reader does not see: of a description for models, a sign of bad intent. */
export function hasHiddenText(text: string): boolean {
  return stripControls(text.replace(/\r/g, '')).replace(INVISIBLE, '') !== text.replace(/\r/g, '');
}
