/** Reads an object, whole or in a window, and a folder as a limited set of its children. */
import type { Readable } from 'node:stream';
import { addAbortSignal } from 'node:stream';
import { bytesOf, type ResourceBody } from '../../core/body.ts';
import { leavingOut } from '../../core/child-bodies.ts';
import { versioned, versionFrom } from '../../core/content-version.ts';
import type { Context } from '../../core/context.ts';
import { invalid, notFound } from '../../core/errors.ts';
import type { ByteRange, ReadOptions } from '../../core/provider.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Bucket, type Found, findFolder, isThere, resourceOf } from './bucket.ts';
import { faultOf, isPastTheEnd } from './fault.ts';
import { entriesOf } from './list.ts';
import { parseKeyUri } from './names.ts';
import type { Content } from './store.ts';

/** The most children of a folder that are fetched at a time. */
const CONCURRENCY = 8;

/** @throws ResourceError `not-found`, `denied`, `invalid`, `unavailable` */
export async function readBucket(
  bucket: Bucket,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  ctx.signal.throwIfAborted();
  const { key, isPrefix } = parseKeyUri(uri);
  if (isPrefix) return readFolder(bucket, key, uri, want, ctx);
  const body = await readObject(bucket, key, uri, want.range, ctx);
  if (body !== undefined) return [body];
  const folder = await findFolder(bucket, key, uri, ctx).catch((error: unknown) => {
    throw faultOf(error, uri, ctx.signal);
  });
  return readFolder(bucket, folder.key, uri, want, ctx);
}

async function readObject(
  bucket: Bucket,
  key: string,
  uri: string,
  range: ByteRange | undefined,
  ctx: Context,
): Promise<ResourceBody | undefined> {
  try {
    if (!(await isThere(bucket, key, ctx))) return undefined;
    if (range?.length === 0) return await emptyWindow(bucket, key, uri, range.offset, ctx);
    const content = await bucket.store.get(bucket.prefix + key, bytesOfRange(range), ctx.signal);
    return content === undefined ? undefined : bodyOf(bucket, key, uri, content, range, ctx);
  } catch (error) {
    if (range !== undefined && !ctx.signal.aborted && isPastTheEnd(error))
      return emptyWindow(bucket, key, uri, range.offset, ctx);
    throw faultOf(error, uri, ctx.signal);
  }
}

function bytesOfRange(range: ByteRange | undefined): { first: number; last: number | undefined } | undefined {
  if (range === undefined) return undefined;
  const { offset, length } = range;
  const last = length === undefined ? undefined : Math.min(offset + length - 1, Number.MAX_SAFE_INTEGER);
  return { first: offset, last };
}

/** Makes the body of an empty window from the facts about the object: S3 returns no such window, nor one that begins at the end. */
async function emptyWindow(
  bucket: Bucket,
  key: string,
  uri: string,
  offset: number,
  ctx: Context,
): Promise<ResourceBody | undefined> {
  const facts = await bucket.store.head(bucket.prefix + key, ctx.signal).catch((error: unknown) => {
    throw faultOf(error, uri, ctx.signal);
  });
  if (facts === undefined) return undefined;
  const { size } = facts;
  if (offset > size) throw invalid(`The window begins past the end of the resource, which has ${size} bytes`, uri);
  const resource = resourceOf(bucket, { kind: 'object', key, facts });
  return { resource, content: bytesOf(new Uint8Array()), window: { offset, total: size } };
}

function bodyOf(
  bucket: Bucket,
  key: string,
  uri: string,
  { facts, contentType, body }: Content,
  range: ByteRange | undefined,
  ctx: Context,
): ResourceBody {
  const resource = withType(resourceOf(bucket, { kind: 'object', key, facts }), contentType);
  const offset = range?.offset ?? 0;
  const size = Math.max(0, Math.min(facts.size - offset, range?.length ?? Number.POSITIVE_INFINITY));
  return {
    resource,
    content: versioned({ kind: 'stream', size, open: () => chunks(body, uri, ctx.signal) }, versionOfObject(facts)),
    window: range === undefined ? undefined : { offset, total: facts.size },
    close: async () => void body.destroy(),
  };
}

const versionOfObject = ({ etag }: Content['facts']): string | undefined =>
  etag === undefined ? undefined : versionFrom([etag]);

/** Uses the type stored with the object where its name implies none. */
function withType(resource: Resource, contentType: string | undefined): Resource {
  const type = contentType?.split(';', 1)[0]?.trim();
  if (resource.mimeType !== undefined || type === undefined || !/^[\w.+-]+\/[\w.+-]+$/.test(type)) return resource;
  return type === 'application/octet-stream' || type === 'binary/octet-stream'
    ? resource
    : { ...resource, mimeType: type };
}

/** Yields chunks on demand: reads from the connection only when the caller asks. */
async function* chunks(body: Readable, uri: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
  try {
    signal.throwIfAborted();
    for await (const chunk of addAbortSignal(signal, body)) {
      yield chunk as Uint8Array;
      signal.throwIfAborted();
    }
  } catch (error) {
    throw faultOf(error, uri, signal);
  } finally {
    body.destroy();
  }
}

/**
 * Reads the first children in list order, each whole (2093-5). A child that exceeds the rest of the budget, or cannot
 * be read, is left out; folders among them have no content.
 */
async function readFolder(
  bucket: Bucket,
  folder: string,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  if (want.range !== undefined) throw invalid('A folder has no bytes to read a window of; list it instead', uri);
  const { found, empty } = await entriesOf(bucket, folder, { limit: Math.max(1, want.maxChildren) }, uri, ctx);
  if (empty && folder !== '') throw notFound(uri);
  let budget = want.maxBytes;
  const fitting = found.slice(0, want.maxChildren).filter((each) => {
    const size = each.kind === 'prefix' ? 0 : each.facts.size;
    if (size > budget) return false;
    budget -= size;
    return true;
  });
  const unread = leavingOut(uri, ctx);
  const read = (each: Found): Promise<ResourceBody | undefined> =>
    childOf(bucket, each, ctx).catch((error: unknown) => unread.leaveOut(resourceOf(bucket, each).uri, error));
  const bodies: ResourceBody[] = [];
  for (let at = 0; at < fitting.length; at += CONCURRENCY) {
    const next = await Promise.all(fitting.slice(at, at + CONCURRENCY).map(read));
    bodies.push(...next.filter((body) => body !== undefined));
  }
  unread.end(bodies.length);
  return bodies;
}

async function childOf(bucket: Bucket, found: Found, ctx: Context): Promise<ResourceBody | undefined> {
  ctx.signal.throwIfAborted();
  const resource = resourceOf(bucket, found);
  if (found.kind === 'prefix') return { resource, content: bytesOf(new Uint8Array()), child: true };
  try {
    const content = await bucket.store.get(bucket.prefix + found.key, undefined, ctx.signal);
    if (content === undefined) return undefined;
    const bytes = Buffer.alloc(found.facts.size);
    let filled = 0;
    for await (const chunk of chunks(content.body, resource.uri, ctx.signal)) {
      // The object has grown since it was listed, so its description would be wrong.
      if (filled + chunk.byteLength > bytes.byteLength) return undefined;
      bytes.set(chunk, filled);
      filled += chunk.byteLength;
    }
    const facts = { ...content.facts, size: filled };
    const described = withType(resourceOf(bucket, { kind: 'object', key: found.key, facts }), content.contentType);
    return {
      resource: described,
      content: versioned(bytesOf(bytes.subarray(0, filled)), versionOfObject(facts)),
      child: true,
    };
  } catch (error) {
    throw faultOf(error, resource.uri, ctx.signal);
  }
}
