/**
 * The manifest of `get`, one line a resource: it says which file is which resource, which resources need not be asked for
 * again, and which files `get` has written. Lines are added as files are written, so that an interrupted run goes on.
 */
import { createReadStream } from 'node:fs';
import { appendFile, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ResourceClientError } from '../../errors.ts';
import { OWN_FOLDER } from './names.ts';

export const MANIFEST = 'manifest.jsonl';

/** The first line: what the folder is of. */
export interface ManifestHead {
  readonly vitrineGet: 1;
  /** The server's own name. */
  readonly server: string | null;
  /** The URIs that were asked for; none for all that the server has. */
  readonly start: readonly string[];
}

/** One file. */
export interface ManifestEntry {
  readonly uri: string;
  /** The names from the folder to the file. */
  readonly path: readonly string[];
  /** As the server calls it. */
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly lastModified?: string | undefined;
  /** Bytes, as the server says beforehand. */
  readonly listedSize?: number | undefined;
  /** Bytes of the file. */
  readonly size: number;
  /** Of the file's bytes, in hexadecimal digits. */
  readonly sha256: string;
  /** The file's time of change, in milliseconds: as long as it stays, and the size, the file counts as untouched. */
  readonly mtimeMs: number;
}

export interface Manifest {
  readonly head: ManifestHead | undefined;
  /** By URI. */
  readonly entries: Map<string, ManifestEntry>;
  /** URIs of a run that did not come to its end: what it has written is not asked for again. */
  readonly unfinished: ReadonlySet<string>;
}

/** Longer lines are no lines of a manifest, in UTF-16 units. */
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

/** A line that was not written to its end is none. */
function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
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
  Array.isArray(value) && value.every((each) => typeof each === 'string');

/**
 * Writes the whole manifest in the place of the one that is there.
 * @param recent URIs of the run that goes on; @param ended nothing goes on
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
      // An entry that the run that goes on has not written is old.
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

/** Adds a line. */
export const addEntry = (folder: string, entry: ManifestEntry): Promise<void> =>
  appendFile(join(folder, OWN_FOLDER, MANIFEST), `${JSON.stringify(entry)}\n`);

/** @throws ResourceClientError `invalid` when the folder holds something else */
export function checkHead(found: ManifestHead | undefined, head: ManifestHead): void {
  if (found === undefined) return;
  const same = found.server === head.server && JSON.stringify(found.start) === JSON.stringify(head.start);
  if (same) return;
  throw new ResourceClientError(
    'invalid',
    `The folder holds ${found.start.join(' ') || 'everything'} of ${found.server ?? 'another server'}; take another folder`,
  );
}
