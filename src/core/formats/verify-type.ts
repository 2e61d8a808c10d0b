/**
 * Checks a claimed type by the bytes (SEC-RES-6). A type is corrected when the bytes contradict it, and never towards
 * something that more could be done with: text is at most plain text unless its name claims more, so that nothing turns
 * into HTML or a script by how it looks. Server and client judge alike; nothing here needs Node.
 */
import { isBinaryType, trailingPartBytes } from '../text/text.ts';

/** Bytes that are looked at, from the start. */
export const HEAD_BYTES = 4_100;

const UNKNOWN = 'application/octet-stream';
const PLAIN = 'text/plain';

/** Formats whose first bytes are always the same: a claim of one without them is false. */
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

/** Formats that others are built on: the name knows better which one it is. */
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

/** Whether bytes are valid UTF-8. Node has a faster one than this, in `node:buffer`. */
export function decodesAsUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * The type of content that begins with `head`.
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
  // Before the detection, which takes a byte-order mark for a frame of MPEG audio.
  if (!isBinaryType(claimed) && isUtf16Text(head)) return claimed ?? PLAIN;
  const detected = await detectType(head);
  if (detected !== undefined) return reconcile(claimed, canonical(detected));
  if (claimed === undefined) return isOtherText(head) ? PLAIN : UNKNOWN;
  if (isBinaryType(claimed)) return ALWAYS_RECOGNISED.has(canonical(claimed)) ? UNKNOWN : claimed;
  return isOtherText(head) || !claimed.startsWith('text/') ? claimed : UNKNOWN;
}

/** Content with fewer bytes than this may end within a magic number. */
const MAGIC_BYTES = 8;

/** How much is looked at of what may end within one, in bytes. */
const FOLLOWED_BYTES = 64;

/** Detects the type by magic numbers. Loads them with the first binary content: a start over stdio does not wait for it. */
async function detectType(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type/core');
  const typeOf = async (bytes: Uint8Array): Promise<string | undefined> =>
    (await fileTypeFromBuffer(bytes).catch(() => undefined))?.mime;
  const detected = await typeOf(head);
  if (detected === undefined || head.byteLength >= MAGIC_BYTES) return detected;
  // The library reads zeros behind a short content, and two bytes are no font: the type has to be found before other bytes, too.
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

/** Without the part of a character that a cut leaves at the end. */
function whole(head: Uint8Array, complete: boolean): Uint8Array {
  return complete ? head : head.subarray(0, head.byteLength - trailingPartBytes(head));
}

/** Text in another encoding: no control characters at all, as in Latin-1. */
function isOtherText(head: Uint8Array): boolean {
  return isUtf16Text(head) || !hasControls(head);
}

/** A byte-order mark of UTF-16, and characters after it; the last one may be cut. */
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

/** Control characters that do not occur in text: all but tab, line feed, vertical tab, form feed, return, escape. */
function hasControls(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    if (byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1b) return true;
  }
  return false;
}
