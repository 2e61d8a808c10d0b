/** JSON on one line of visible ASCII, whatever is in it. */

/** Characters that JSON leaves as they are, but an eye may not see or may take for others: they are escaped. */
const NOT_ASCII = /[^\x20-\x7e]/g;

/** Visible characters that JSON leaves as they are: nearly every text that is recorded. */
const PLAIN = /^[\x20!#-[\]-~]*$/;

const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The members of an object, without its braces. @param object one that is not empty */
export const asciiMembers = (object: object): string => asciiJson(object).slice(1, -1);

/** A text as it stands between the quotation marks of a string. */
export const inString = (text: string): string => (PLAIN.test(text) ? text : asciiJson(text).slice(1, -1));
