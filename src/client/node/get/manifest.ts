/**
 * The manifest of `get` has one line for each resource. It says which file is which resource, which resources need not be read
 * again, and which files `get` has written. Lines are added as files are written, so that the next run can continue an
 * interrupted one.
 */
import { createReadStream } from 'node:fs';
import { appendFile, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isData } from '../../../protocol/data.ts';
import { ResourceClientError } from '../../errors.ts';
import { OWN_FOLDER } from './names.ts';

export const MANIFEST = 'manifest.jsonl';

/** The first line: which server and which URIs the folder holds. */
export interface ManifestHead {
  readonly vitrineGet: 1;
  /** The name that the server declares; null without one. */
  readonly server: string | null;
  /** The URIs that were asked for; none for all that the server has. */
  readonly start: readonly string[];
}

/** The line of one file. */
export interface ManifestEntry {
  readonly uri: string;
  /** The path of the file below the folder, as names. */
  readonly path: readonly string[];
  /** The name that the server gives the resource. */
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Bytes, as the server said before the read. */
  readonly listedSize?: number | undefined;
  /** Bytes of the file. */
  readonly size: number;
  /** SHA-256 of the file's bytes, in hexadecimal digits. */
  readonly sha256: string;
  /** When the file was last changed, in milliseconds. While this and `size` stay the same, the file counts as untouched. */
  readonly mtimeMs: number;
}

export interface Manifest {
  readonly head: ManifestHead | undefined;
  /** By URI. */
  readonly entries: Map<string, ManifestEntry>;
  /** URIs that an interrupted run has written: the next run does not read them again. */
  readonly unfinished: ReadonlySet<string>;
}

/** The longest line of a manifest, in UTF-16 units. Longer lines are ignored. */
const MAX_LINE = 300_000;

export async function readManifest(folder: string): Promise<Manifest> {
  const entries = new Map<string, ManifestEntry>();
  const unfinished = new Set<string>();
  let head: ManifestHead | undefined;
  const input = createReadStream(join(folder, OWN_FOLDER, MANIFEST), 'utf8');
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const value = line.length > MAX_LINE ? undefined : parsed(line);
      if (isHead(value)) head = value;
      else if (isEntry(value)) {
        entries.set(value.uri, value);
        if (value.old !== true) unfinished.add(value.uri);
      } else if (value?.end === true) unfinished.clear();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return { head, entries, unfinished };
}

/** Returns the object of a line; undefined for a line that was cut off while it was written. */
function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isData(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isHead = (value: unknown): value is ManifestHead => {
  const { vitrineGet, start } = (value ?? {}) as Partial<ManifestHead>;
  return vitrineGet === 1 && isTexts(start);
};

const isEntry = (value: unknown): value is ManifestEntry & { readonly old?: unknown } => {
  const { uri, path, size, sha256, mtimeMs } = (value ?? {}) as Partial<ManifestEntry>;
  return (
    typeof uri === 'string' &&
    isTexts(path) &&
    typeof size === 'number' &&
    typeof sha256 === 'string' &&
    typeof mtimeMs === 'number'
  );
};

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/**
 * Replaces the manifest with one that has these lines.
 * @param recent URIs that were written by the run in progress, or by the interrupted run that it continues
 * @param ended whether the run is complete
 */
export async function writeManifest(
  folder: string,
  head: ManifestHead,
  entries: Iterable<ManifestEntry>,
  recent: ReadonlySet<string>,
  ended: boolean,
): Promise<void> {
  const path = join(folder, OWN_FOLDER, MANIFEST);
  const draft = `${path}.new`;
  {
    await using file = await open(draft, 'w', 0o600);
    let text = `${JSON.stringify(head)}\n`;
    for (const entry of entries) {
      // Marks entries of earlier runs.
      const { old: _, ...rest } = entry as ManifestEntry & { old?: true };
      text += `${JSON.stringify(ended || recent.has(entry.uri) ? rest : { ...rest, old: true })}\n`;
      if (text.length < MAX_LINE) continue;
      await file.write(text);
      text = '';
    }
    await file.write(ended ? `${text}{"end":true}\n` : text);
  }
  await rename(draft, path);
}

/** Appends the line of one file. */
export const addEntry = (folder: string, entry: ManifestEntry): Promise<void> =>
  appendFile(join(folder, OWN_FOLDER, MANIFEST), `${JSON.stringify(entry)}\n`);

/** @throws ResourceClientError `invalid` when the folder holds another server's resources, or those of other URIs */
export function checkHead(found: ManifestHead | undefined, head: ManifestHead): void {
  if (found === undefined) return;
  const same = found.server === head.server && JSON.stringify(found.start) === JSON.stringify(head.start);
  if (same) return;
  throw new ResourceClientError(
    'invalid',
    `The folder holds ${found.start.join(' ') || 'everything'} of ${found.server ?? 'another server'}; take another folder`,
  );
}
