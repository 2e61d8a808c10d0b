/**
 * Converts between names of files and references, which are bytes in git, and segments of URIs. In this provider a name is a
 * string of one character per byte (`latin1`), so that comparing strings compares bytes.
 *
 * A segment is the name as UTF-8 text. Some bytes are escaped, each as `~` and two capital hexadecimal digits: control
 * characters, backslashes, slashes, bytes that are not UTF-8, U+FFFD, the dots of `.` and `..`, and a `~` before two such
 * digits. So each name has exactly one segment.
 */

/** A UTF-8 sequence, or a byte that belongs to none. */
const SEQUENCE =
  /~(?=[0-9A-F]{2})|[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

const UNWRITABLE = /[\u0000-\u001f\u007f-\u009f\\/\ufffd]/;

const PLAIN = /^[\w@+=-][\w.@+= -]*$/;

const ESCAPE = /~([0-9A-F]{2})/g;

/** Returns the decoded segment of a name, which is also the text that people see. The name must not be empty. */
export function segmentOf(name: string): string {
  if (PLAIN.test(name)) return name;
  if (name === '.' || name === '..') return escaped(name);
  return name.replace(SEQUENCE, (sequence, at: number) => {
    const text = Buffer.from(sequence, 'latin1').toString('utf8');
    if (sequence === '~') return /^~[0-9A-F]{2}/.test(name.slice(at, at + 3)) ? escaped(sequence) : sequence;
    return UNWRITABLE.test(text) ? escaped(sequence) : text;
  });
}

const escaped = (bytes: string): string =>
  bytes.replace(/[\x00-\xff]/g, (byte) => `~${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);

/** Returns the name of a decoded segment; undefined if `segmentOf` would write the name in another way. */
export function nameOf(segment: string): string | undefined {
  if (PLAIN.test(segment)) return segment;
  const name = toBytes(segment).replace(ESCAPE, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return name !== '' && segmentOf(name) === segment ? name : undefined;
}

/** Returns a text as a name, one character per byte. */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Returns a name as text; undefined if it is not UTF-8. */
export function toText(name: string): string | undefined {
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return toBytes(text) === name ? text : undefined;
}

/** Returns a name as text, with U+FFFD in place of bytes that are not UTF-8. */
export const toShown = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');
