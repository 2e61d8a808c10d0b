/** Text that is shown or logged elsewhere: no control characters, no terminal escapes, bounded (SEC-UTIL-4). */

/** The most characters that are kept. */
export const MAX_SCRUBBED_LENGTH = 8_192;

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Takes terminal escapes and control characters out, all but tab and line feed, and cuts what is too long. */
export function scrub(value: string): string {
  const cut = value.length > MAX_SCRUBBED_LENGTH ? `${value.slice(0, MAX_SCRUBBED_LENGTH - 1)}…` : value;
  return stripControls(cut);
}

/** The same without the cut, for text whose length is bounded elsewhere. */
export function stripControls(value: string): string {
  return value.replace(ESCAPES, '').replace(CONTROLS, '');
}

/** The most entries of one list or object that are kept, and how deep they may lie in each other. */
const MAX_ENTRIES = 100;
const MAX_DEPTH = 5;

/**
 * The same for JSON data: every text in it, keys included; what is too deep or too much is left out.
 * @param text what becomes of a text
 */
export function scrubData(value: unknown, text: (value: string) => string = scrub, depth = 0): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => scrubData(entry, text, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([key, entry]) => [text(key), scrubData(entry, text, depth + 1)]));
}

/** The most levels of JSON data that are kept, more than messages need; deeper ones are left out. */
const MAX_TEXT_DEPTH = 64;

/** JSON data with each text in it, keys included, as `change` makes it. */
export function changeTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_TEXT_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((entry) => changeTexts(entry, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [change(key), changeTexts(entry, change, depth + 1)]),
  );
}
