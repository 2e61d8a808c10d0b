/** Reads zip archives: the list of entries stands at the end of the archive, and each entry is read at its own position. */
import { createInflateRaw } from 'node:zlib';
import { breaks } from '../../core/breaks.ts';
import { ResourceError } from '../../core/errors.ts';
import { decompressed } from './decompress.ts';
import type { Format } from './format.ts';
import { MAX_ENTRIES, MAX_RATIO, RATIO_FROM_BYTES } from './limits.ts';
import { blocks, buffered, damaged, fill, type Source, type SourceHandle } from './source.ts';
import { buildTree, type EntryPlace, type Tree, tooLarge } from './tree.ts';

/** Bytes of a local header before its name. */
const LOCAL_HEADER_BYTES = 30;
const LOCAL_HEADER = 0x04034b50;

const STORED = 0;
const DEFLATED = 8;

/** The bits of the Unix attributes that tell the kind of a file. */
const KIND = 0o170000;
const REGULAR = 0o100000;
const DIRECTORY = 0o040000;

export const zip: Format = { index, data };

async function index(source: Source, handle: SourceHandle, signal: AbortSignal): Promise<Tree> {
  const { default: yauzl } = await import('yauzl');
  const read = buffered(handle, source.size);
  class Reader extends yauzl.RandomAccessReader {
    override read(
      buffer: Buffer,
      offset: number,
      length: number,
      position: number,
      done: (error: Error | null, bytesRead?: number) => void,
    ): void {
      read(length, position).then(
        (bytes) => done(null, bytes.copy(buffer, offset)),
        (error: Error) => done(error),
      );
    }
  }
  const builder = buildTree();
  const takeBreak = breaks();
  const spans: { readonly from: number; readonly to: number }[] = [];
  try {
    const opened = await yauzl.fromRandomAccessReaderPromise(new Reader(), source.size, {
      lazyEntries: true,
      // The tree builder checks the names. If yauzl did, one bad name would make the whole archive unreadable.
      decodeStrings: false,
      validateEntrySizes: true,
      autoClose: false,
    });
    try {
      if (opened.entryCount > MAX_ENTRIES) throw tooLarge(`it has ${opened.entryCount} entries`);
      for await (const entry of opened.eachEntry()) {
        signal.throwIfAborted();
        await takeBreak();
        const { relativeOffsetOfLocalHeader: offset, compressedSize: stored, uncompressedSize: size } = entry;
        const { generalPurposeBitFlag: flags, fileNameRaw, extraFields, compressionMethod: method } = entry;
        spans.push({ from: offset, to: offset + LOCAL_HEADER_BYTES + stored });
        const path = yauzl.getFileNameLowLevel(flags, fileNameRaw, extraFields, true);
        const modified = entry.getLastModDate({ timezone: 'UTC' }).getTime();
        const kind = entry.versionMadeBy >> 8 === 3 ? (entry.externalFileAttributes >>> 16) & KIND : 0;
        if (path.endsWith('/')) builder.add(path, undefined, modified);
        else if (kind !== 0 && kind !== REGULAR && kind !== DIRECTORY) builder.leaveOut('is a link or a device');
        else {
          const problem = entry.isEncrypted() ? ENCRYPTED : problemOf(method, stored, size);
          const at: EntryPlace = { offset, stored, method, crc: entry.crc32 };
          builder.add(path, { size, modified, at, ...(problem !== undefined && { problem }) });
        }
      }
    } finally {
      opened.close();
    }
  } catch (error) {
    throw error instanceof ResourceError || signal.aborted ? error : damaged('its list of entries is wrong', error);
  }
  assertApart(spans, source.size);
  return builder.done();
}

const ENCRYPTED = 'It is encrypted, and the server has no password for it: serve it outside of the archive';

function problemOf(method: number, stored: number, size: number): string | undefined {
  if (method !== STORED && method !== DEFLATED)
    return `It is compressed by a method that the server does not know (${method})`;
  if (size > RATIO_FROM_BYTES && size > stored * MAX_RATIO)
    return `It decompresses to more than ${MAX_RATIO} times its size, which no document does`;
  return undefined;
}

/** Refuses entries that share bytes: with many of them, a small archive could decompress to a huge size. */
function assertApart(spans: { readonly from: number; readonly to: number }[], size: number): void {
  spans.sort((a, b) => a.from - b.from);
  let end = 0;
  for (const { from, to } of spans) {
    if (from < end) throw damaged('its entries overlap');
    if (to > size) throw damaged('it ends too early');
    end = to;
  }
}

async function* data(
  handle: SourceHandle,
  source: Source,
  at: EntryPlace,
  size: number,
  from: number,
  signal: AbortSignal,
) {
  const { offset, stored = 0, method } = at;
  const header = Buffer.alloc(LOCAL_HEADER_BYTES);
  await fill(handle, header, offset);
  if (header.readUInt32LE(0) !== LOCAL_HEADER) throw damaged('an entry is not where it should be');
  const start = offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + stored > source.size) throw damaged('it ends too early');
  if (method === STORED) yield* blocks(handle, start + from, start + stored);
  else yield* decompressed(blocks(handle, start, start + stored), createInflateRaw(), signal, from, size);
}
