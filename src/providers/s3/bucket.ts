/** Finds the objects and folders of a bucket, and describes them as resources. */
import type { Context } from '../../core/context.ts';
import { notFound } from '../../core/errors.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import { ETAG_META_KEY } from '../../protocol/meta.ts';
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import { faultOf } from './fault.ts';
import { hasOddParts, lastPart, nameOfKey, parseKeyUri, uriOfKey, uriOfPrefix } from './names.ts';
import type { KeyEntry, ObjectFacts, Store } from './store.ts';

export interface Bucket {
  readonly store: Store;
  /** The text that all keys begin with: empty, or with a slash at its end. */
  readonly prefix: string;
  /** The name of the root. */
  readonly name: string;
}

/** An object, or a folder: a prefix that keys begin with. Keys are relative to the root. */
export type Found =
  | { readonly kind: 'object'; readonly key: string; readonly facts: ObjectFacts }
  | { readonly kind: 'prefix'; readonly key: string };

/**
 * Finds the object or folder that a URI names. If the URI has no slash at its end, an object wins over a folder of that name.
 * @throws ResourceError `not-found`, `invalid`, `denied`, `unavailable`
 */
export async function find(bucket: Bucket, uri: string, ctx: Context): Promise<Found> {
  const { key, isPrefix } = parseKeyUri(uri);
  try {
    if (isPrefix) {
      if (key === '' || (await hasKeys(bucket, key, ctx))) return { kind: 'prefix', key };
      throw notFound(uri);
    }
    const facts = (await isThere(bucket, key, ctx))
      ? await bucket.store.head(bucket.prefix + key, ctx.signal)
      : undefined;
    if (facts !== undefined) return { kind: 'object', key, facts };
    return await findFolder(bucket, key, uri, ctx);
  } catch (error) {
    throw faultOf(error, uri, ctx.signal);
  }
}

/** Whether a key may be requested. One with odd parts may only if a list of the store has it, see `hasOddParts`. */
export async function isThere({ store, prefix }: Bucket, key: string, { signal }: Context): Promise<boolean> {
  if (!hasOddParts(key)) return true;
  const { entries } = await store.list({ prefix: prefix + key, folded: false, limit: 1 }, signal);
  return entries[0]?.key === prefix + key;
}

/** Finds the folder with a name that no object has. @throws ResourceError `not-found` */
export async function findFolder(bucket: Bucket, key: string, uri: string, ctx: Context): Promise<Found> {
  if (await hasKeys(bucket, `${key}/`, ctx)) return { kind: 'prefix', key: `${key}/` };
  throw notFound(uri);
}

async function hasKeys({ store, prefix }: Bucket, key: string, { signal }: Context): Promise<boolean> {
  const { entries } = await store.list({ prefix: prefix + key, folded: false, limit: 1 }, signal);
  return entries.length > 0;
}

/** Makes the key of a store's entry relative to the root. */
export function foundOf({ prefix }: Bucket, entry: KeyEntry): Found {
  const key = entry.key.slice(prefix.length);
  return entry.kind === 'prefix' ? { kind: 'prefix', key } : { kind: 'object', key, facts: entry.facts };
}

export function resourceOf(bucket: Bucket, found: Found): Resource {
  if (found.kind === 'prefix') {
    return {
      uri: uriOfPrefix(found.key),
      name: found.key === '' ? bucket.name : nameOfKey(found.key.slice(0, -1)),
      mimeType: DIRECTORY_MIME_TYPE,
      capabilities: { list: true, subscribe: true },
    };
  }
  const { key, facts } = found;
  const mimeType = mimeTypeOfName(lastPart(key));
  return {
    uri: uriOfKey(key),
    name: nameOfKey(key),
    ...(mimeType !== undefined && { mimeType }),
    size: facts.size,
    ...(facts.lastModified !== undefined && { annotations: { lastModified: facts.lastModified.toISOString() } }),
    capabilities: { list: false, subscribe: true },
    ...(facts.etag !== undefined && { _meta: { [ETAG_META_KEY]: facts.etag } }),
  };
}
