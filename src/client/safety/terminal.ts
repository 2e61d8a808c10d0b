/** Text of a server for a terminal: no escapes, no control characters, nothing that is there and not seen. */
import { stripUnseen } from '../../core/text/clean-text.ts';

/** Characters of a single line that are kept, unless told otherwise. */
export const DEFAULT_LINE_LENGTH = 8_192;

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
  const seen = stripUnseen(cut.replace(/\r\n/g, '\n'));
  return lines ? seen : seen.replace(/[\t\n]+/g, ' ');
}

/** Whether text holds characters that a reader does not see: of a description for models, a sign of bad intent. */
export function hasHiddenText(text: string): boolean {
  const seen = text.replace(/\r/g, '');
  return stripUnseen(seen) !== seen;
}
