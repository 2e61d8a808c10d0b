/** Entries of skills for servers that tests write by hand. */
import { createHash } from 'node:crypto';

/** A file as an entry lists it. @param text its contents */
export const fileEntry = (uri: string, text: string): object => ({
  uri,
  digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
  size: Buffer.byteLength(text),
});
