/** Cleans foreign text for people and models: it cannot act on a terminal, and it hides nothing. */
import { stripControls } from './scrub.ts';

/**
 * Invisible characters: direction marks, zero-width characters, line separators, and the tag characters, which can hide
 * whole sentences from a reader. The zero-width joiner and non-joiner stay, since scripts and emoji need them.
 */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Removes escape sequences, control characters except tab and line feed, direction overrides and invisible characters. */
export const stripUnseen = (text: string): string => stripControls(text).replace(INVISIBLE, '');

/** Does the same, with line feeds instead of CRLF, and cuts the text to a number of characters. Clean text is not copied. */
export function cleanText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, Math.max(0, maxLength - 1)).toWellFormed()}…` : text;
  return stripUnseen(cut.replaceAll('\r\n', '\n'));
}

/** Writes each control character and invisible character in a form such as `\u{1b}`, so that a reader sees it. */
export function showUnseen(text: string): string {
  const shown = (found: string): string => `\\u{${found.codePointAt(0)?.toString(16) ?? ''}}`;
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, shown).replace(INVISIBLE, shown);
}

/** Writes the same characters in a JSON text as JSON escapes: the value stays the same, and nothing is hidden. */
export function escapeUnseen(json: string): string {
  const escaped = (found: string): string =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    );
  return json.replace(/[\u007f-\u009f]/g, escaped).replace(INVISIBLE, escaped);
}
