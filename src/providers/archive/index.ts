/**
 * Shows an archive as resources: `archive:///guide/intro.md` is the entry of that path in a zip, a tar or a compressed
 * tar. It lists, describes and reads entries, in windows too. It unpacks nothing to disk, and follows no links.
 *
 * @example
 * const pack = await archiveProvider({ source: bytesSource(await readFile('./pack.zip')), kind: 'zip', name: 'pack.zip'
 * });
 */
import { crc32 } from 'node:zlib';
import type { ResourceBody } from '../../core/body.ts';
import { type Context, type Log, SILENT } from '../../core/context.ts';
import { type DefinedResource, defineProvider } from '../../core/define-provider.ts';
import { invalid, notFound, ResourceError } from '../../core/errors.ts';
import { mimeTypeOfName } from '../../core/formats/mime-type.ts';
import type { Page, ReadOptions, ResourceProvider } from '../../core/provider.ts';
import { parseTreeUri, treeUri } from '../../core/uri.ts';
import { DIRECTORY_MIME_TYPE } from '../../protocol/resources.ts';
import type { Format } from './format.ts';
import { ENTRY_WEIGHT, INDEX_MS, MAX_ENTRY_BYTES } from './limits.ts';
import { damaged, type Source } from './source.ts';
import { compressedTar, tar } from './tar.ts';
import { type Entry, type FolderNode, isFolder, nodeAt, sortedNames } from './tree.ts';
import { zip } from './zip.ts';

export { bytesSource } from './source.ts';

export const SCHEME = 'archive';

const FORMATS = { zip, tar, tgz: compressedTar } as const satisfies Readonly<Record<string, Format>>;

export type ArchiveKind = keyof typeof FORMATS;

export interface ArchiveOptions {
  readonly source: Source;
  readonly kind: ArchiveKind;
  /** The name of its root. */
  readonly name: string;
  /** Logs entries that are left out. Default: no log. */
  readonly log?: Log;
}

export interface Archive {
  readonly provider: ResourceProvider;
  /** Approximate bytes of memory that it takes. */
  readonly weight: number;
  /** Returns the size of an entry, and a function that reads all of its bytes; undefined for a missing entry or a folder. */
  entry(
    uri: string,
  ): { readonly size: number; bytes(maxBytes: number, signal: AbortSignal): Promise<Buffer> } | undefined;
}

/** @throws ResourceError as `openArchive` */
export const archiveProvider = async (options: ArchiveOptions): Promise<ResourceProvider> =>
  (await openArchive(options)).provider;

/** @throws ResourceError `invalid` for a damaged file or one that is not an archive; `too-large`, `timeout` */
export async function openArchive({ source, kind, name, log = SILENT }: ArchiveOptions): Promise<Archive> {
  const format = FORMATS[kind];
  const tree = await indexOf(format, source);
  for (const [reason, entries] of tree.leftOut)
    log.warn('left out of an archive: an entry that cannot be shown', { archive: name, reason, entries });

  const describe = (uri: string, own: string, node: FolderNode | Entry): DefinedResource => ({
    uri,
    name: own,
    mimeType: isFolder(node) ? DIRECTORY_MIME_TYPE : (mimeTypeOfName(own) ?? 'application/octet-stream'),
    ...(!isFolder(node) && { size: node.size }),
    ...(node.modified !== undefined && { annotations: { lastModified: new Date(node.modified).toISOString() } }),
  });

  function find(uri: string): { readonly names: readonly string[]; readonly node: FolderNode | Entry } | undefined {
    const { segments: names, trailingSlash } = parseTreeUri(uri, SCHEME);
    const node = nodeAt(tree, names);
    if (node === undefined || (trailingSlash && names.length > 0)) return undefined;
    return { names, node };
  }

  const provider = defineProvider({
    name,
    scheme: SCHEME,
    ranges: true,
    metadata(uri) {
      const found = find(uri);
      return found && describe(treeUri(SCHEME, found.names), found.names.at(-1) ?? name, found.node);
    },
    list(uri, { cursor, limit }: Page) {
      if (uri === undefined) return { resources: [describe(treeUri(SCHEME, []), name, tree.root)] };
      const { names = [], node } = find(uri) ?? {};
      if (node === undefined || !isFolder(node)) return undefined;
      const sorted = sortedNames(node);
      const from = cursor === undefined ? 0 : firstAfter(sorted, positionOf(cursor));
      const shown = sorted.slice(from, from + limit);
      const last = shown.at(-1);
      return {
        resources: shown.flatMap((each) => {
          const child = node.children.get(each);
          return child === undefined ? [] : [describe(treeUri(SCHEME, [...names, each]), each, child)];
        }),
        nextCursor: last !== undefined && from + shown.length < sorted.length ? `n${last}` : undefined,
      };
    },
    read(uri, want, ctx) {
      const found = find(uri);
      if (found === undefined) throw notFound(uri);
      if (isFolder(found.node)) return undefined;
      return [bodyOf(uri, describe(uri, found.names.at(-1) ?? name, found.node), found.node, want, ctx)];
    },
  });

  function bodyOf(
    uri: string,
    described: DefinedResource,
    entry: Entry,
    want: ReadOptions,
    ctx: Context,
  ): ResourceBody {
    assertReadable(entry, uri);
    const { offset = 0, length = entry.size } = want.range ?? {};
    if (offset > entry.size)
      throw invalid(`The window begins past the end of the resource, which has ${entry.size} bytes`, uri);
    const to = Math.min(entry.size, offset + length);
    return {
      resource: { ...described, name: described.name ?? name, capabilities: { list: false, subscribe: false } },
      content: { kind: 'stream', size: to - offset, open: () => bytesOf(uri, entry, offset, to, ctx.signal) },
      window: want.range === undefined ? undefined : { offset, total: entry.size },
    };
  }

  async function* bytesOf(uri: string, entry: Entry, from: number, to: number, signal: AbortSignal) {
    if (from === to) return;
    const handle = await source.open();
    try {
      let at = from;
      let sum = 0;
      const whole = from === 0 && to === entry.size && entry.at.crc !== undefined;
      for await (const chunk of format.data(handle, source, entry.at, entry.size, from, signal)) {
        signal.throwIfAborted();
        const part = chunk.subarray(0, to - at);
        if (whole) sum = crc32(part, sum);
        at += chunk.byteLength;
        // A partial read may end here; a whole entry must have the declared length.
        if (at > to && whole) throw damaged('an entry is longer than it says');
        yield part;
        if (at >= to && !whole) return;
      }
      if (at < to) throw damaged('the file ends too early');
      if (whole && sum !== entry.at.crc) throw damaged('the checksum of an entry is wrong');
    } catch (error) {
      throw error instanceof ResourceError ? error.withUri(uri) : error;
    } finally {
      await handle.close();
    }
  }

  return {
    provider,
    weight: tree.count * ENTRY_WEIGHT,
    entry(uri) {
      const node = find(uri)?.node;
      if (node === undefined || isFolder(node)) return undefined;
      const { size } = node;
      return {
        size,
        async bytes(maxBytes, signal) {
          assertReadable(node, uri);
          if (size > maxBytes)
            throw new ResourceError('too-large', `An archive within an archive has at most ${maxBytes} bytes`, { uri });
          const chunks: Uint8Array[] = [];
          for await (const chunk of bytesOf(uri, node, 0, size, signal)) chunks.push(chunk);
          return Buffer.concat(chunks);
        },
      };
    },
  };
}

/** Indexing may take long, and other requests may wait for it too, so it has its own time limit. */
async function indexOf(format: Format, source: Source) {
  const handle = await source.open();
  const signal = AbortSignal.timeout(INDEX_MS);
  try {
    return await format.index(source, handle, signal);
  } catch (error) {
    if (error instanceof ResourceError || !signal.aborted) throw error;
    throw new ResourceError('timeout', 'Listing the entries of the archive takes too long', { cause: error });
  } finally {
    await handle.close();
  }
}

function assertReadable({ problem, size }: Entry, uri: string): void {
  if (problem !== undefined) throw new ResourceError('denied', problem, { uri });
  if (size > MAX_ENTRY_BYTES)
    throw new ResourceError('too-large', `An entry of an archive is read up to ${MAX_ENTRY_BYTES} bytes`, { uri });
}

function positionOf(cursor: string): string {
  if (!cursor.startsWith('n')) throw invalid('This cursor is not of this list');
  return cursor.slice(1);
}

/** Returns the position of the first name after a given one, which may have been removed. */
function firstAfter(sorted: readonly string[], name: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}
