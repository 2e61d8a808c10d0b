/**
 * Names of files and references, which git keeps as bytes, as segments of a URI. In this provider a name is a string of
 * one character a byte (`latin1`), so that comparing strings compares bytes.
 *
 * A segment has the name as UTF-8. What no segment can have in it is written as `~` and two capital hexadecimal digits a
 * byte: control characters, backslashes, slashes, what is not UTF-8, U+FFFD, and the dots of `.` and `..`; so is a `~`
 * before two such digits. One name has one segment.
 */

/** A UTF-8 sequence, or a byte that belongs to none. */
const SEQUENCE =
  /~(?=[0-9A-F]{2})|[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|[\x80-\xff]/g;

const UNWRITABLE = /[\u0000-\u001f\u007f-\u009f\\/\ufffd]/;

const PLAIN = /^[\w@+=-][\w.@+= -]*$/;

const ESCAPE = /~([0-9A-F]{2})/g;

/** The decoded segment of a name that is not empty; also what the name is shown as. */
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

/** The name of a decoded segment; undefined where it is another spelling than that of `segmentOf`. */
export function nameOf(segment: string): string | undefined {
  if (PLAIN.test(segment)) return segment;
  const name = toBytes(segment).replace(ESCAPE, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return name !== '' && segmentOf(name) === segment ? name : undefined;
}

/** A text as a name. */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** A name as text; undefined where it is not UTF-8. */
export function toText(name: string): string | undefined {
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return toBytes(text) === name ? text : undefined;
}

/** A name as text, with marks where it is not UTF-8. */
export const toShown = (name: string): string => Buffer.from(name, 'latin1').toString('utf8');
