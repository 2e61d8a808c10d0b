/** Makes text of a server safe for a terminal, without escapes, control characters and invisible characters. */
import { stripUnseen } from '../../core/text/clean-text.ts';

/** The most characters of a single line by default. */
export const DEFAULT_LINE_LENGTH = 8_192;

export interface TerminalOptions {
  /** Whether tabs and line feeds stay. Default: false, which turns them into spaces, so that a name is one line. */
  readonly lines?: boolean;
  /** The most characters; longer text is cut. Default: 8,192 for one line, unlimited with `lines`. */
  readonly maxLength?: number;
}

/**
 * Removes escape sequences, C0 and C1 controls, bidirectional overrides and invisible characters from a text. A stream may be
 * cleaned piece by piece, because no escape character is ever left.
 */
export function forTerminal(text: string, options: TerminalOptions = {}): string {
  const { lines = false, maxLength = lines ? Number.POSITIVE_INFINITY : DEFAULT_LINE_LENGTH } = options;
  const cut = text.length > maxLength ? `${text.slice(0, Math.max(0, maxLength - 1)).toWellFormed()}…` : text;
  const seen = stripUnseen(cut.replace(/\r\n/g, '\n'));
  return lines ? seen : seen.replace(/[\t\n]+/g, ' ');
}

/** Whether text has characters that people do not see. In a description for models they are a sign of bad intent. */
export function hasHiddenText(text: string): boolean {
  const seen = text.replace(/\r/g, '');
  return stripUnseen(seen) !== seen;
}
