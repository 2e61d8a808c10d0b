/** Lists the entries of a plain or compressed tar archive in one pass, from header to header, and reads single entries. */
import { createGunzip } from 'node:zlib';
import type { Header as TarHeader } from 'tar';
import { breaks } from '../../core/breaks.ts';
import { ResourceError } from '../../core/errors.ts';
import { decompressed } from './decompress.ts';
import type { Format } from './format.ts';
import { MAX_COMPRESSED_TAR_BYTES, MAX_ENTRIES, MAX_EXTENSION_BYTES, MAX_RATIO, RATIO_FROM_BYTES } from './limits.ts';
import { blocks, buffered, damaged, type Source, type SourceHandle } from './source.ts';
import { buildTree, type Tree, tooLarge } from './tree.ts';

const BLOCK = 512;

const FILES: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile']);

/** Reads `length` bytes at a position; undefined if the archive ends at or before that position. Positions only increase. */
type ReadAt = (length: number, position: number) => Promise<Buffer | undefined>;

export const tar: Format = {
  index(source, handle, signal) {
    const read = buffered(handle, source.size);
    return indexOf(async (length, position) => (position >= source.size ? undefined : read(length, position)), signal);
  },
  data: (handle, source, { offset }, size, from) => blocks(handle, offset + from, Math.min(offset + size, source.size)),
};

export const compressedTar: Format = {
  async index(source, handle, signal) {
    const bytes = plain(source, handle, signal);
    try {
      return await indexOf(forwards(bytes, source.size), signal);
    } finally {
      await bytes.return(undefined);
    }
  },
  data: (handle, source, { offset }, size, from, signal) =>
    decompressed(blocks(handle, 0, source.size), createGunzip(), signal, offset + from, offset + size - 1),
};

const plain = (source: Source, handle: SourceHandle, signal: AbortSignal): AsyncGenerator<Buffer> =>
  decompressed(blocks(handle, 0, source.size), createGunzip(), signal);

/**
 * Reads a stream forwards, and drops the bytes that are skipped.
 * @param stored the compressed size, in bytes
 */
function forwards(bytes: AsyncGenerator<Buffer>, stored: number): ReadAt {
  let block: Buffer = Buffer.alloc(0);
  let start = 0;
  return async (length, position) => {
    while (start + block.byteLength < position + length) {
      const next = await bytes.next();
      if (next.done) {
        if (start + block.byteLength <= position) return undefined;
        throw damaged('it ends too early');
      }
      const rest = block.subarray(Math.max(0, position - start));
      start = rest.byteLength > 0 ? Math.max(start, position) : start + block.byteLength;
      block = rest.byteLength > 0 ? Buffer.concat([rest, next.value]) : next.value;
      const passed = start + block.byteLength;
      if (passed > MAX_COMPRESSED_TAR_BYTES)
        throw tooLarge(`it decompresses to more than ${MAX_COMPRESSED_TAR_BYTES} bytes`);
      if (passed > RATIO_FROM_BYTES && passed > stored * MAX_RATIO)
        throw tooLarge(`it decompresses to more than ${MAX_RATIO} times its size`);
    }
    return block.subarray(position - start, position - start + length);
  };
}

async function indexOf(read: ReadAt, signal: AbortSignal): Promise<Tree> {
  const { Header, Pax } = await import('tar');
  const builder = buildTree();
  const takeBreak = breaks();
  let global: InstanceType<typeof Pax> | undefined;
  let extended: InstanceType<typeof Pax> | undefined;
  let longName: string | undefined;
  let extensions = 0;
  for (let at = 0, seen = 0; ; ) {
    signal.throwIfAborted();
    await takeBreak();
    const block = await read(BLOCK, at);
    // Most archives end with blocks of zeros; some just end.
    if (block === undefined) return finished(builder.done(), seen);
    let header: TarHeader;
    try {
      header = new Header(block, 0, extended, global);
    } catch (cause) {
      throw damaged('a header is wrong', cause);
    }
    if (header.nullBlock) return finished(builder.done(), seen);
    if (!header.cksumValid) throw damaged('a header is wrong');
    const { size = 0, type } = header;
    const from = at + BLOCK;
    at = from + Math.ceil(size / BLOCK) * BLOCK;
    if (!Number.isSafeInteger(at)) throw damaged('a header is wrong');
    if (++seen > MAX_ENTRIES * 3) throw tooLarge(`it has more than ${MAX_ENTRIES} entries`);

    if (EXTENSIONS.has(type)) {
      extensions += size;
      if (extensions > MAX_EXTENSION_BYTES) throw damaged('a name is too long');
      const text = ((await read(size, from)) ?? Buffer.alloc(0)).toString('utf8');
      if (type === 'ExtendedHeader' || type === 'OldExtendedHeader') extended = Pax.parse(text, extended, false);
      else if (type === 'GlobalExtendedHeader') global = Pax.parse(text, global, true);
      else if (type !== 'NextFileHasLongLinkpath') longName = text.replace(/\0.*/s, '');
      continue;
    }
    const path = longName ?? extended?.path ?? header.path ?? '';
    const time = header.mtime?.getTime();
    const modified = time === undefined || Number.isNaN(time) ? undefined : time;
    if (type === 'Directory' || type === 'GNUDumpDir') builder.add(`${path}/`, undefined, modified);
    else if (FILES.has(type)) builder.add(path, { size, modified, at: { offset: from } });
    else builder.leaveOut('is a link or a device');
    extended = undefined;
    longName = undefined;
    extensions = 0;
    // A file that ends inside its last entry is truncated.
    if (size > 0 && (await read(1, from + size - 1)) === undefined) throw damaged('it ends too early');
  }
}

const EXTENSIONS: ReadonlySet<string> = new Set([
  'ExtendedHeader',
  'OldExtendedHeader',
  'GlobalExtendedHeader',
  'NextFileHasLongPath',
  'OldGnuLongPath',
  'NextFileHasLongLinkpath',
]);

/** Refuses a file without any entry: it may as well be of another kind. */
function finished(tree: Tree, seen: number): Tree {
  if (seen === 0 && tree.count === 0) throw new ResourceError('invalid', 'The file is empty or is not an archive');
  return tree;
}
