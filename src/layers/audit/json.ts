/** JSON on one line in visible characters, whatever is in it. */

/** What JSON leaves as it is and a terminal or an eye does not see: other controls, separators, marks of direction. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Visible characters that JSON leaves as they are: nearly every text that is recorded. */
const PLAIN = /^[\x20!#-[\]-~]*$/;

const visibleJson = (value: unknown): string =>
  JSON.stringify(value).replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The members of an object, without its braces. @param object one that is not empty */
export const visibleMembers = (object: object): string => visibleJson(object).slice(1, -1);

/** A text as it stands between the quotation marks of a string. */
export const inString = (text: string): string => (PLAIN.test(text) ? text : visibleJson(text).slice(1, -1));
