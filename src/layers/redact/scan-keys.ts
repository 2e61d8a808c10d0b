/**
 * The part of the scanning thread's program that looks for private keys. The library finds a key only if it is whole, in
 * lines with nothing before them, and at least 100 characters long. This finds a key by one of its marks (BEGIN or END), and
 * covers the base64 next to the mark. So it also finds a key that lacks its other mark, has a gap, is quoted, indented or
 * commented out, has escaped line ends, or is short, as keys of Ed25519 are.
 */

/** The most characters of a key, counted from a mark. A key of 16,384 bits has 12,800. */
export const MAX_KEY_LENGTH = 15_000;

/**
 * Defines `keysIn(text, most)`, which returns places as `[start, end]`.
 *
 * - A mark and a run of base64, or two runs, belong together if the text between them can be a line end with quotes or
 *   comment signs: at most 64 characters, with no 6 in a row that could be base64.
 * - Headers such as `DEK-Info: ...` may follow the BEGIN mark. A shorter line may stand before the END mark.
 * - A run may contain the escapes that JSON and URLs use for `/` and for line ends.
 * - Fewer than 32 characters of base64 are no key.
 * - If the END mark is missing, a last shorter line belongs to the key, unless it is a word.
 */
export const KEYS_PROGRAM = String.raw`
const SPACE = '(?: |%20|\\+)';
const MARK = '-{4,5} ?(?:BEGIN|END)(?:' + SPACE + '[A-Z0-9]{1,20}){0,4}?' + SPACE + '?PRIVATE' + SPACE + 'KEY(?:' + SPACE + 'BLOCK)? ?-{4,5}';
const PARTS = new RegExp(MARK + '|[A-Za-z0-9+/%\\\\]{16,}={0,2}', 'g');
const HAS_MARK = new RegExp('PRIVATE' + SPACE + 'KEY');
const HEADERS = /[A-Z][A-Za-z0-9-]{1,30}: [^\n\\]{0,200}/g;
const SHORT_LINE = /[A-Za-z0-9+/]{6,15}={0,2}/;
const LAST_LINE = /^[^A-Za-z0-9+/=]{0,32}\n[^A-Za-z0-9+/=]{0,32}([A-Za-z0-9+/]{1,15}={0,2})(?![A-Za-z0-9+/= ])/;

/** Whether two parts that follow each other belong together. */
function isJoined(text, before, after, inHead) {
  const between = text.slice(before.end, after.start);
  if (inHead) return between.length <= 1000 && !/[A-Za-z0-9+/]{6}/.test(between.replace(HEADERS, ''));
  const rest = after.mark === 'END' ? between.replace(SHORT_LINE, '') : between;
  return rest.length <= 64 && !/[A-Za-z0-9+/]{6}/.test(rest);
}

function keysIn(text, most) {
  if (!HAS_MARK.test(text)) return [];
  const parts = Array.from(text.matchAll(PARTS), ({ index, 0: part }) => ({
    start: index,
    end: index + part.length,
    mark: part.startsWith('--') ? (part.includes('BEGIN') ? 'BEGIN' : 'END') : undefined,
  }));
  const keys = [];
  for (const [index, mark] of parts.entries()) {
    if (mark.mark === undefined) continue;
    const forward = mark.mark === 'BEGIN';
    let { start, end } = mark;
    let base64 = 0;
    let last = mark;
    for (let at = forward ? index + 1 : index - 1; at >= 0 && at < parts.length; at += forward ? 1 : -1) {
      const part = parts[at];
      if (part.mark === mark.mark) break;
      const [before, after] = forward ? [last, part] : [part, last];
      if (!isJoined(text, before, after, before.mark === 'BEGIN')) break;
      start = Math.max(Math.min(start, part.start), mark.end - most);
      end = Math.min(Math.max(end, part.end), mark.start + most);
      last = part;
      if (part.mark !== undefined) break;
      base64 += part.end - part.start;
      if (end - start >= most) break;
    }
    if (base64 < 32) continue;
    if (forward && last.mark === undefined) {
      const [line = '', characters = ''] = LAST_LINE.exec(text.slice(end, end + 100)) ?? [];
      if (!/^[A-Za-z]?[a-z]*$/.test(characters)) end += line.length;
    }
    keys.push([start, end]);
  }
  return keys;
}
`;
