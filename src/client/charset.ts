/** Decodes the bytes of a resource in the charset that its description declares. */
import { encodingOfMark } from '../core/text/byte-order-mark.ts';
import { decodeWindows1252 } from '../core/text/windows-1252.ts';
import { CHARSET_META_KEY } from '../protocol/meta.ts';
import type { ListedResource } from './shapes.ts';

/** Returns the text; undefined for bytes that are not UTF-8. A byte-order mark stays in the text. */
export const textOf = (bytes: Uint8Array): string | undefined => decoded(bytes, 'utf-8', true);

/**
 * Returns the text in the declared charset, by default UTF-8; undefined for other bytes and an unknown charset. The byte-order
 * mark of UTF-16 is left out.
 * @param offset the first byte, counted from the start of the content
 */
export function declaredText(bytes: Uint8Array, resource: ListedResource, offset = 0): string | undefined {
  const charset = charsetOf(resource);
  if (charset === undefined || /^utf-?8$/i.test(charset)) return textOf(bytes);
  if (!/^utf-?16/i.test(charset)) return decoded(bytes, charset, false);
  // In UTF-16, a window from an odd byte begins within a character.
  if (offset % 2 === 1) return undefined;
  const mark = /^utf-?16$/i.test(charset) ? encodingOfMark(bytes) : undefined;
  return decoded(bytes, mark ?? charset, false);
}

/** Returns the charset that the server has found, else the one in the MIME type. */
function charsetOf({ mimeType, _meta }: ListedResource): string | undefined {
  const found = _meta?.[CHARSET_META_KEY];
  // The other value, `unknown-8bit`, names no charset.
  if (found === 'utf-16le' || found === 'utf-16be') return found;
  const { quoted, plain } = CHARSET.exec(mimeType ?? '')?.groups ?? {};
  return quoted ?? plain;
}

const CHARSET = /;\s*charset=(?:"(?<quoted>[^"]*)"|(?<plain>[^\s;"]+))/i;

function decoded(bytes: Uint8Array, charset: string, ignoreBOM: boolean): string | undefined {
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM });
    return decoder.encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
