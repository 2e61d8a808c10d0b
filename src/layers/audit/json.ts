/** Writes JSON on one line of visible ASCII. */

/** Characters that are escaped, although JSON does not require it: a reader may not see them, or take them for others. */
const NOT_ASCII = /[^\x20-\x7e]/g;

/** Matches a text that needs no escapes, like nearly every text that is recorded. */
const PLAIN = /^[\x20!#-[\]-~]*$/;

const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(NOT_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The members of an object, without its braces. @param object one that is not empty */
export const asciiMembers = (object: object): string => asciiJson(object).slice(1, -1);

/** Writes a text as it stands between the quotation marks of a string. */
export const inString = (text: string): string => (PLAIN.test(text) ? text : asciiJson(text).slice(1, -1));
