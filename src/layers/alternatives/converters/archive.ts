/** Unpacks files of a ZIP archive, such as an office document or an e-book, within limits that hold whatever the archive claims. */
import { type ConversionLimits, tooMuch } from './converter.ts';

/** The most files that an archive may have. */
const MAX_FILES = 20_000;

/** Unpacked files by their names. */
export type Files = Readonly<Record<string, Uint8Array>>;

/**
 * Unpacks the files whose names are wanted. The sizes in the archive's directory are counted before anything is unpacked, and
 * no file gets more bytes than its size there. Archives inside the archive stay packed.
 * @throws ResourceError `too-large` over a limit
 */
export async function unpack(
  bytes: Uint8Array,
  wanted: (name: string) => boolean,
  { maxUnpackedBytes }: Pick<ConversionLimits, 'maxUnpackedBytes'>,
): Promise<Files> {
  const { unzipSync } = await import('fflate');
  let total = 0;
  let files = 0;
  return unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      if (++files > MAX_FILES) throw tooMuch('The archive', MAX_FILES, 'files');
      if (!wanted(name)) return false;
      total += originalSize;
      if (total > maxUnpackedBytes) throw tooMuch('The content of the archive', maxUnpackedBytes);
      return true;
    },
  });
}

/** Packs the markup of an office document again, without compression, for libraries that open archives themselves. */
export async function repacked(
  bytes: Uint8Array,
  limits: Pick<ConversionLimits, 'maxUnpackedBytes'>,
): Promise<Uint8Array> {
  const { zipSync } = await import('fflate');
  const files = await unpack(bytes, (name) => /(?:\.xml|\.rels|^mimetype)$/i.test(name), limits);
  return zipSync({ ...files }, { level: 0 });
}

/** The text of a file, in the encoding that its byte-order mark names, else UTF-8; undefined if there is no such file. */
export function textIn(files: Files, name: string): string | undefined {
  const bytes = Object.hasOwn(files, name) ? files[name] : undefined;
  if (bytes === undefined) return undefined;
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  return new TextDecoder(mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : 'utf-8').decode(bytes);
}

/** Resolves a path that is relative to a file of the archive; undefined if it leads out of the archive. */
export function resolveIn(base: string, path: string): string | undefined {
  const parts = path.startsWith('/') ? [] : base.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
