/** Makes foreign text safe to show and to log: without control characters and terminal escapes, and of limited length (SEC-UTIL-4). */

/** The most characters that are kept. */
export const MAX_SCRUBBED_LENGTH = 8_192;

const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Removes terminal escapes and control characters, except tab and line feed, and cuts the text at `MAX_SCRUBBED_LENGTH`. */
export function scrub(value: string): string {
  const cut = value.length > MAX_SCRUBBED_LENGTH ? `${value.slice(0, MAX_SCRUBBED_LENGTH - 1)}…` : value;
  return stripControls(cut);
}

/** Does the same as `scrub` without cutting, for text whose length is limited elsewhere. */
export function stripControls(value: string): string {
  return value.replace(ESCAPES, '').replace(CONTROLS, '');
}

/** The most entries of a list or an object that `scrubData` keeps. */
const MAX_ENTRIES = 100;
/** The most levels of JSON data that `scrubData` keeps. */
const MAX_DEPTH = 5;

/**
 * Scrubs every text in JSON data, including keys. Entries over the limits are left out; deeper data becomes `…`.
 * @param text changes a text. Default: `scrub`
 */
export function scrubData(value: unknown, text: (value: string) => string = scrub, depth = 0): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map((entry) => scrubData(entry, text, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ENTRIES);
  return Object.fromEntries(entries.map(([key, entry]) => [text(key), scrubData(entry, text, depth + 1)]));
}

/** The most levels of JSON data that `changeTexts` keeps, which is more than messages need. */
const MAX_TEXT_DEPTH = 64;

/** Returns a copy of JSON data in which `change` has changed every text, including keys. Deeper data becomes `…`. */
export function changeTexts(value: unknown, change: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_TEXT_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((entry) => changeTexts(entry, change, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [change(key), changeTexts(entry, change, depth + 1)]),
  );
}
