/** Finds the requests to which a message that is too large to be parsed may be the answer. */

/** How many characters at each end of a message are looked at. */
export const END_LENGTH = 1_024;

const ID = String.raw`"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.){0,256}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const ID_FIRST = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?${ID}`);
const ID_LAST = new RegExp(String.raw`${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);
const METHOD_FIRST = new RegExp(String.raw`^\s*\{\s*(?:(?:${VERSION}|${ID})\s*,\s*){0,2}"method"`);

/** Returns the ids at the two ends of a message, one of which may be that of the request that it answers; none for a request. */
export function idsAtEnds(text: string): readonly unknown[] {
  const [head, tail] = [text.slice(0, END_LENGTH), text.slice(-END_LENGTH)];
  if (METHOD_FIRST.test(head)) return [];
  const ends = [ID_FIRST.exec(head), ID_LAST.exec(tail)];
  return ends.flatMap((found) => {
    const id = found?.[1];
    return id === undefined ? [] : [JSON.parse(id) as unknown];
  });
}
