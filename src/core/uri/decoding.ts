/** Decodes URIs as other servers may: more than once, and without characters that URL parsers drop. Browsers can load it. */

/** The most times that a text is decoded: a server behind another server may decode again. */
export const MAX_DECODING = 3;

/** Whether a server could read a segment as `..` or `.`, with any escapes, and also with parameters after it (`..;x`). */
export function hasDotSegments(uri: string): boolean {
  let text = uri.slice(uri.indexOf(':') + 1);
  for (let round = 0; round <= MAX_DECODING; round++) {
    if (text.split(/[/\\?#]/).some((segment) => /^\s*\.{1,2}\s*(?:;.*)?$/s.test(withoutIgnored(segment)))) return true;
    const decoded = decodedOnce(text);
    if (decoded === text) return false;
    text = decoded;
  }
  return false;
}

/** Removes the characters that URL parsers drop wherever they are. */
export const withoutIgnored = (text: string): string => text.replace(/[\t\n\r]/g, '');

/** Decodes escapes once; sequences that are not UTF-8 stay unchanged. */
export function decodedOnce(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}
