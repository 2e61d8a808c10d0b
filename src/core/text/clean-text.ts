/** Text that somebody else wrote, for people and models: nothing in it acts on a terminal, and nothing is there unseen. */
import { stripControls } from './scrub.ts';

/**
 * Characters without a picture: direction marks, zero-width characters, line separators, and the tag characters in which
 * whole sentences can be hidden from a reader. Joiners stay, since scripts and emoji need them.
 */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Takes escape sequences, control characters but tab and line feed, direction overrides and invisible characters out. */
export const stripUnseen = (text: string): string => stripControls(text).replace(INVISIBLE, '');

/** The same, cut to so many characters. Nothing is copied where there is nothing to take out. */
export function cleanText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, Math.max(0, maxLength - 1)).toWellFormed()}…` : text;
  return stripUnseen(cut.replaceAll('\r\n', '\n'));
}

/** Text with what `stripUnseen` takes out written as `\u{1b}`, for somebody who has to see that it is there. */
export function showUnseen(text: string): string {
  const shown = (found: string): string => `\\u{${found.codePointAt(0)?.toString(16) ?? ''}}`;
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, shown).replace(INVISIBLE, shown);
}

/** JSON text with the same characters as escapes of JSON: it says the same, and nothing in it hides. */
export function escapeUnseen(json: string): string {
  const escaped = (found: string): string =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    );
  return json.replace(/[\u007f-\u009f]/g, escaped).replace(INVISIBLE, escaped);
}
