/** Reads a file, whole or a window of it, and reads a directory as a bounded set of its children. */
import { type BodyContent, bytesOf, type ResourceBody } from '../../core/body.ts';
import { childBodies } from '../../core/child-bodies.ts';
import { versioned } from '../../core/content-version.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { BLOCK_BYTES, type Loan } from '../../core/loan.ts';
import type { ReadOptions } from '../../core/provider.ts';
import { parseTreeUri } from '../../core/uri.ts';
import type { Resource } from '../../protocol/resources.ts';
import { remembered, versionOfFile } from './again.ts';
import { faultOf } from './fault.ts';
import { type Folder, type Found, find, findSegments, SCHEME } from './folder.ts';
import { listOpened } from './list.ts';
import { fill } from './open.ts';

/** Files up to this size are read in one go. */
const SMALL_BYTES = 64 * 1024;

/** The bytes that are read at first of a child whose size is 0. Nearly every file of the kernel has fewer. */
const FIRST_BYTES = 4_096;

export async function readFileOrDirectory(
  folder: Folder,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const before = Date.now();
  const found = await find(folder, uri, 'content');
  if (found.isDirectory) {
    try {
      return await readDirectory(folder, found, want, uri, ctx);
    } finally {
      await found[Symbol.asyncDispose]();
    }
  }
  const { range } = want;
  const body = await fileBody(found, want, uri, ctx);
  versioned(body.content, () => versionOfFile(folder, found, before));
  return remembered(folder, found, [body], { uri, range, before });
}

/** Makes the body of a found file, and closes the file: at once if it is small, else when the body is read to its end or closed. */
async function fileBody(found: Found, want: ReadOptions, uri: string, ctx: Context): Promise<ResourceBody> {
  const { resource, opened } = found;
  const close = (): Promise<void> => found[Symbol.asyncDispose]();
  const total = Number(opened.stat.size);
  const offset = want.range?.offset ?? 0;
  const end = want.range?.length === undefined ? total : Math.min(total, offset + want.range.length);
  const length = Math.max(0, end - offset);
  // Files of the kernel have size 0, and may have content nevertheless.
  const unsized = total === 0 && (await hasBytes(found, uri));
  const window = want.range === undefined ? undefined : { offset, total: unsized ? undefined : total };
  if (offset > total && !unsized) {
    await close();
    throw invalid(`The window begins past the end of the resource, which has ${total} bytes`, uri);
  }
  if (unsized || length > SMALL_BYTES) {
    const to = unsized ? offset + (want.range?.length ?? Number.POSITIVE_INFINITY) : end;
    const content: BodyContent = {
      kind: 'stream',
      size: unsized ? undefined : length,
      open: () => chunks(found, offset, to, uri, want.loan, ctx.signal),
    };
    return { resource: unsized ? withoutSize(resource) : resource, content, window, close };
  }
  try {
    const buffer = Buffer.allocUnsafeSlow(length);
    const bytes = buffer.subarray(0, await fill(opened.handle, buffer, offset));
    return {
      resource: sized(resource, window === undefined ? bytes.byteLength : total),
      content: { kind: 'bytes', bytes },
      window,
    };
  } catch (error) {
    throw faultOf(error, uri);
  } finally {
    await close();
  }
}

/** Whether at least one byte can be read from a file. Closes the file if reading fails. */
async function hasBytes(found: Found, uri: string): Promise<boolean> {
  try {
    return (await fill(found.opened.handle, Buffer.alloc(1), 0)) > 0;
  } catch (error) {
    await found[Symbol.asyncDispose]();
    throw faultOf(error, uri);
  }
}

function withoutSize({ size: _size, ...rest }: Resource): Resource {
  return rest;
}

/** The resource with the size that was really read, in case the file has changed since it was opened. */
const sized = (resource: Resource, size: number): Resource =>
  resource.size === size ? resource : { ...resource, size };

/** Reads a file to its end; undefined if its size is 0, as files of the kernel claim, and it has more than `most` bytes. */
async function wholeOf(found: Found, most: number): Promise<Buffer | undefined> {
  const size = Number(found.opened.stat.size);
  let buffer = Buffer.allocUnsafeSlow(size === 0 ? FIRST_BYTES : size);
  let filled = await fill(found.opened.handle, buffer, 0);
  while (size === 0 && filled === buffer.byteLength && filled <= most) {
    buffer = Buffer.concat([buffer, Buffer.allocUnsafeSlow(filled)]);
    filled += await fill(found.opened.handle, buffer.subarray(filled), filled);
  }
  return size === 0 && filled > most ? undefined : buffer.subarray(0, filled);
}

/** Streams a larger file block by block; between two blocks other requests get their turn. */
async function* chunks(
  found: Found,
  from: number,
  to: number,
  uri: string,
  loan: Loan | undefined,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  let block: Buffer = Buffer.alloc(0);
  let used = 0;
  try {
    for (let at = from; at < to; ) {
      signal.throwIfAborted();
      if (used === block.byteLength) {
        loan?.filled(block);
        block =
          to - at < BLOCK_BYTES || loan === undefined
            ? Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, to - at))
            : loan.take();
        used = 0;
      }
      const bytesRead = await found.opened.handle.read(block, used, Math.min(block.byteLength - used, to - at), at);
      if (bytesRead === 0) return;
      const chunk = block.subarray(used, used + bytesRead);
      used += bytesRead;
      at += bytesRead;
      yield chunk;
    }
  } catch (error) {
    throw faultOf(error, uri);
  } finally {
    loan?.filled(block);
    await found[Symbol.asyncDispose]();
  }
}

async function readDirectory(
  folder: Folder,
  directory: Found,
  want: ReadOptions,
  uri: string,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  if (want.range !== undefined) throw invalid('A directory has no bytes to take a window of; list it instead', uri);
  const part = { position: undefined, limit: want.maxChildren, uri, signal: ctx.signal };
  const filter = await folder.visibility.filterIn(directory.opened.segments);
  const { resources } = await listOpened(folder, directory, filter, part);
  return childBodies(uri, resources, want.maxBytes, (child, budget) => childBody(folder, child, budget), ctx);
}

/** Reads a file whole; undefined if it is larger than the budget. */
async function childBody(folder: Folder, resource: Resource, budget: number): Promise<ResourceBody | undefined> {
  if ((resource.size ?? 0) > budget) return undefined;
  const before = Date.now();
  const { segments } = parseTreeUri(resource.uri, SCHEME);
  await using found = await findSegments(folder, segments, 'content', resource.uri);
  try {
    if (found.isDirectory || Number(found.opened.stat.size) > budget) return undefined;
    const bytes = await wholeOf(found, budget);
    if (bytes === undefined) return undefined;
    const content = versioned(bytesOf(bytes), () => versionOfFile(folder, found, before));
    return { resource: sized(found.resource, bytes.byteLength), content };
  } catch (error) {
    throw faultOf(error, resource.uri);
  }
}
