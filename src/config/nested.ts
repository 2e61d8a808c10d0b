/** Opens archives, databases and repositories in a folder, so that clients can list and read inside them (`nested`). */
import { realpath, stat } from 'node:fs/promises';
import { type Log, SILENT } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import type { ResourceProvider } from '../core/provider.ts';
import { treeUri } from '../core/uri.ts';
import type { Archive, ArchiveKind } from '../providers/archive/index.ts';
import { type FilesOptions, openFiles } from '../providers/files/index.ts';
import type { FilePlace, Inner, NestedKind, Opening, Openings, Outer } from '../providers/nested/index.ts';
import { SQLITE_MAGIC } from './kinds/sql.ts';
import { NESTED_KINDS, type NestedConfig } from './nested-schema.ts';

/** How many levels of archives in archives are opened. An archive that is a file in the folder is level 1. */
const MAX_LEVELS = 2;

/** The most bytes of an archive in another one, which is held in memory. */
const MAX_INNER_BYTES = 32 * 1024 ** 2;

/** The most milliseconds to take one archive out of another one. */
const EXTRACT_MS = 60_000;

/** Returns a provider of a folder and of the insides of its files and repositories that `nested` names. @throws as `filesProvider` */
export async function nestedFiles(options: FilesOptions, nested: NestedConfig): Promise<ResourceProvider> {
  const { provider, ...files } = await openFiles(options);
  if (nested === undefined || nested === 'off') return provider;
  const { createOpenings, nestedProvider } = await import('../providers/nested/index.ts');
  const openings = createOpenings();
  const wanted = nested === 'on' ? NESTED_KINDS : nested;
  const kinds = [...kindsOf(wanted, openings, 1), ...(wanted.includes('git') ? [await gitKind()] : [])];
  return nestedProvider({ outer: { provider, scheme: 'file', ...files }, kinds, openings });
}

function kindsOf(
  wanted: readonly (typeof NESTED_KINDS)[number][],
  openings: Openings,
  level: number,
): readonly NestedKind[] {
  const archives = ARCHIVES.filter(({ option }) => wanted.includes(option));
  const inner = (): readonly NestedKind[] => (level < MAX_LEVELS ? kindsOf(wanted, openings, level + 1) : []);
  return [
    ...archives.map(
      ({ kind, endings }): NestedKind => ({
        key: kind,
        endings,
        hasFiles: true,
        open: (opening) => openedArchive(kind, opening, openings, inner()),
      }),
    ),
    // SQLite is read from a file on the disk, so not from within an archive.
    ...(wanted.includes('sqlite') && level === 1 ? [SQLITE] : []),
  ];
}

const ARCHIVES: readonly {
  readonly option: 'zip' | 'tar';
  readonly kind: ArchiveKind;
  readonly endings: readonly string[];
}[] = [
  { option: 'zip', kind: 'zip', endings: ['.zip'] },
  { option: 'tar', kind: 'tar', endings: ['.tar'] },
  { option: 'tar', kind: 'tgz', endings: ['.tar.gz', '.tgz'] },
];

async function openedArchive(
  kind: ArchiveKind,
  { place, name, key, log }: Opening,
  openings: Openings,
  inner: readonly NestedKind[],
): Promise<Inner> {
  const { openArchive, SCHEME } = await import('../providers/archive/index.ts');
  const { nestedProvider } = await import('../providers/nested/index.ts');
  const archive = await openArchive({ source: place, kind, name, log });
  // An archive that is not on the disk is in memory, so its own bytes count too.
  const weight = archive.weight + (place.path === undefined ? place.size : 0);
  if (inner.length === 0) return { provider: archive.provider, scheme: SCHEME, weight };
  const outer: Outer = {
    provider: archive.provider,
    scheme: SCHEME,
    place: async (segments) => placeIn(archive, treeUri(SCHEME, segments)),
  };
  return { provider: nestedProvider({ outer, kinds: inner, openings, key }), scheme: SCHEME, weight };
}

/** Returns the place of an archive that is an entry of another one. Its bytes are taken out once, when it is first opened. */
function placeIn(archive: Archive, uri: string): FilePlace | undefined {
  const entry = archive.entry(uri);
  if (entry === undefined) return undefined;
  let bytes: Promise<Buffer> | undefined;
  const extracted = (): Promise<Buffer> => {
    bytes ??= entry.bytes(MAX_INNER_BYTES, AbortSignal.timeout(EXTRACT_MS));
    return bytes;
  };
  return {
    size: entry.size,
    // The URI is enough to identify the entry: when the outer archive changes, it is opened again, and so is everything in it.
    file: uri,
    state: uri,
    async open() {
      const { bytesSource } = await import('../providers/archive/index.ts');
      return bytesSource(await extracted()).open();
    },
  };
}

const SQLITE: NestedKind = {
  key: 'sqlite',
  endings: ['.db', '.db3', '.sqlite', '.sqlite3', '.s3db'],
  magic: SQLITE_MAGIC,
  follows: true,
  gathers: true,
  async open({ place, name, log = SILENT }) {
    const { path = '' } = place;
    const provider = await openDatabase(path, name, log);
    // The file was opened by its path, which may lead to another file by now.
    const now = await stat(path, { bigint: true }).catch(() => undefined);
    const isSameFile = now !== undefined && `${now.dev}:${now.ino}` === place.file;
    if (isSameFile && (await realpath(path).catch(() => '')) === path)
      return { provider, scheme: 'sqlite', weight: DATABASE_WEIGHT };
    await provider.close?.();
    throw new ResourceError('unavailable', 'The database has been replaced meanwhile; try again');
  },
};

/** Roughly the bytes of memory that an open database takes: its rows stay on the disk. */
const DATABASE_WEIGHT = 1024 ** 2;

/** @throws ResourceError whose message does not have the path, unlike that of `sqlProvider`, since clients see it */
async function openDatabase(path: string, name: string, log: Log): Promise<ResourceProvider> {
  const { sqlProvider } = await import('../providers/sql/index.ts');
  try {
    return await sqlProvider({ sql: path, name, log, connections: 1 });
  } catch (error) {
    log.warn('a database in a folder cannot be opened', { name, error });
    const reason = error instanceof ResourceError && error.cause instanceof ResourceError ? error.cause : undefined;
    throw new ResourceError('invalid', reason?.message ?? 'The database cannot be opened', { cause: error });
  }
}

async function gitKind(): Promise<NestedKind> {
  const { gitFolderProvider, pathBelow, SCHEME } = await import('../providers/git/in-folder.ts');
  return {
    key: 'git',
    endings: ['.git'],
    isFolder: true,
    nameInParent: '.git',
    title: 'Git repository',
    has: ['HEAD', 'objects', 'refs'],
    follows: true,
    gathers: true,
    pathBelow,
    async open({ place, name, uri }) {
      const { inside: source, path } = place;
      // The path of the repository in URIs of the folder, with which links in the repository begin.
      const base = uri.slice('file://'.length);
      return { provider: await gitFolderProvider({ source, name, base, path }), scheme: SCHEME, weight: GIT_WEIGHT };
    },
  };
}

/** Roughly the bytes of an open repository. The number is high so that few stay open: each may hold hundreds of files open. */
const GIT_WEIGHT = 16 * 1024 ** 2;
