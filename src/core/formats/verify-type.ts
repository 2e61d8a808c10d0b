/**
 * Checks a claimed type by the bytes (SEC-RES-6). A type is corrected when the bytes contradict it, but never to a more
 * powerful one: text becomes at most plain text unless its name claims more, so that no content becomes HTML or a
 * script by its looks. Server and client decide alike; the code needs no Node.
 */
import { isBinaryType, trailingPartBytes } from '../text/text.ts';

/** The number of bytes that are checked, from the start. */
export const HEAD_BYTES = 4_100;

const UNKNOWN = 'application/octet-stream';
const PLAIN = 'text/plain';

/** Formats with fixed first bytes: without these bytes, a claim of the format is false. */
const ALWAYS_RECOGNISED: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'application/pdf',
  'application/zip',
  'application/gzip',
]);

/** Formats on which other formats are built. Of these, the file's name tells the type better than its bytes. */
const CONTAINERS: ReadonlySet<string> = new Set([
  'application/zip',
  'application/x-cfb',
  'application/gzip',
  'application/xml',
  'application/ogg',
]);

const ALIASES: Readonly<Record<string, string>> = {
  'application/x-gzip': 'application/gzip',
  'image/jpg': 'image/jpeg',
  'image/vnd.microsoft.icon': 'image/x-icon',
  'application/x-sqlite3': 'application/vnd.sqlite3',
};

const canonical = (type: string): string => ALIASES[type] ?? type;

/** Whether bytes are valid UTF-8. `node:buffer` has a faster function. */
export function decodesAsUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the type of content that begins with `head`; undefined if the content is empty and its name claims no type.
 * @param claimed the type that the name claims, if any
 * @param complete whether `head` is the whole content
 */
export async function verifyType(
  claimed: string | undefined,
  head: Uint8Array,
  complete: boolean,
  isUtf8: (bytes: Uint8Array) => boolean = decodesAsUtf8,
): Promise<string | undefined> {
  if (head.byteLength === 0) return claimed;
  if (startsWith(head, '%PDF-')) return 'application/pdf';
  if (isUtf8(whole(head, complete)) && !hasControls(whole(head, complete)))
    return claimed === undefined || isBinaryType(claimed) ? PLAIN : claimed;
  // Checked before the detection, which mistakes a byte-order mark for MPEG audio.
  if (!isBinaryType(claimed) && isUtf16Text(head)) return claimed ?? PLAIN;
  const detected = await detectType(head);
  if (detected !== undefined) return reconcile(claimed, canonical(detected));
  if (claimed === undefined) return isOtherText(head) ? PLAIN : UNKNOWN;
  if (isBinaryType(claimed)) return ALWAYS_RECOGNISED.has(canonical(claimed)) ? UNKNOWN : claimed;
  return isOtherText(head) || !claimed.startsWith('text/') ? claimed : UNKNOWN;
}

/** The number of bytes that a magic number may need. Content with fewer bytes may end within one. */
const MAGIC_BYTES = 8;

/** The length to which such content is padded, in bytes. */
const FOLLOWED_BYTES = 64;

/** Detects the type by magic numbers. The library loads with the first binary content, to keep the start over stdio fast. */
async function detectType(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type/core');
  const typeOf = async (bytes: Uint8Array): Promise<string | undefined> =>
    (await fileTypeFromBuffer(bytes).catch(() => undefined))?.mime;
  const detected = await typeOf(head);
  if (detected === undefined || head.byteLength >= MAGIC_BYTES) return detected;
  // The library pads short content with zeros, and would find fonts in two bytes. So the type must also be found with
  // other padding.
  const followed = new Uint8Array(FOLLOWED_BYTES).fill(0xff);
  followed.set(head);
  return (await typeOf(followed)) === detected ? detected : undefined;
}

function reconcile(claimed: string | undefined, detected: string): string {
  if (claimed === undefined) return detected;
  if (canonical(claimed) === detected) return claimed;
  const [family] = claimed.split('/', 1);
  if (CONTAINERS.has(detected) && family === 'application' && !ALWAYS_RECOGNISED.has(claimed)) return claimed;
  const [detectedFamily] = detected.split('/', 1);
  return family === detectedFamily && (family === 'audio' || family === 'video' || family === 'font')
    ? claimed
    : detected;
}

function startsWith(head: Uint8Array, ascii: string): boolean {
  return (
    head.byteLength >= ascii.length && [...ascii].every((character, index) => head[index] === character.charCodeAt(0))
  );
}

/** Removes an incomplete character at the end. */
function whole(head: Uint8Array, complete: boolean): Uint8Array {
  return complete ? head : head.subarray(0, head.byteLength - trailingPartBytes(head));
}

/** Whether it is text in another encoding, such as Latin-1: it has no control characters. */
function isOtherText(head: Uint8Array): boolean {
  return isUtf16Text(head) || !hasControls(head);
}

/** Whether it has a byte-order mark of UTF-16 and text after it; the last character may be incomplete. */
function isUtf16Text(head: Uint8Array): boolean {
  const mark = (head[0] ?? 0) * 256 + (head[1] ?? 0);
  if (mark !== 0xfffe && mark !== 0xfeff) return false;
  try {
    const decoder = new TextDecoder(mark === 0xfffe ? 'utf-16le' : 'utf-16be', { fatal: true });
    return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffe\uffff]/.test(decoder.decode(head, { stream: true }));
  } catch {
    return false;
  }
}

/** Whether there are control characters other than tab, line feed, vertical tab, form feed, return and escape. */
function hasControls(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    if (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b) return true;
  }
  return false;
}
