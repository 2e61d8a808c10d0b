/** Checks a claimed type against the bytes (SEC-RES-6). Every read goes through this, so it uses Node's fast check of UTF-8. */
import { isUtf8 } from 'node:buffer';
import { verifyType as verify } from '../../core/formats/verify-type.ts';

export { HEAD_BYTES } from '../../core/formats/verify-type.ts';

/**
 * The type of content that begins with `head`.
 * @param claimed the type that the name claims, if any
 * @param complete whether `head` is the whole content
 */
export function verifyType(
  claimed: string | undefined,
  head: Uint8Array,
  complete: boolean,
): Promise<string | undefined> {
  return verify(claimed, head, complete, isUtf8);
}
