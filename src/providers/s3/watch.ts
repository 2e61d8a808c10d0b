/** Returns a short text for the state of the store, for polling. If two texts differ, something has changed. */
import { createHash } from 'node:crypto';
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Bucket, find } from './bucket.ts';
import { faultOf } from './fault.ts';
import { MAX_LIST } from './store.ts';

/** Looks at one object, or at the set of children of a folder. The text is empty for a missing resource. */
export async function lookAt(bucket: Bucket, uri: string, maxKeys: number, ctx: Context): Promise<string> {
  try {
    const found = await find(bucket, uri, ctx);
    if (found.kind === 'prefix') return await lookAtKeys(bucket, found.key, true, maxKeys, ctx);
    const { etag, size, lastModified } = found.facts;
    return JSON.stringify([etag, size, lastModified]);
  } catch (error) {
    if (error instanceof ResourceError && error.code === 'not-found') return '';
    throw error;
  }
}

/** Looks at all keys below the root, for the default list. */
export const lookAtAll = (bucket: Bucket, maxKeys: number, ctx: Context): Promise<string> =>
  lookAtKeys(bucket, '', false, maxKeys, ctx);

async function lookAtKeys(
  bucket: Bucket,
  folder: string,
  folded: boolean,
  maxKeys: number,
  ctx: Context,
): Promise<string> {
  const hash = createHash('sha256');
  const prefix = bucket.prefix + folder;
  let after: string | undefined;
  try {
    for (let seen = 0; seen < maxKeys; ) {
      const limit = Math.min(MAX_LIST, maxKeys - seen);
      const page = await bucket.store.list({ prefix, folded, after, limit }, ctx.signal);
      const entries = page.entries.filter(({ key }) => key !== after);
      for (const { key } of entries) hash.update(`${key}\0`);
      seen += entries.length;
      const last = entries.at(-1)?.key;
      if (!page.truncated || last === undefined) break;
      after = last;
    }
  } catch (error) {
    throw faultOf(error, undefined, ctx.signal);
  }
  return hash.digest('base64');
}
