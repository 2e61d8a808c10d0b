/**
 * Makes a copy of an untrusted repository that git can safely read: a folder with our own configuration, copies of the
 * references and of small objects, and links to large objects. The linked files stay open, so that each link leads to
 * the very file that was checked. Files and links that are put into the repository later do not reach git.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { breaks } from '../../core/breaks.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { headOf, isSame, packedOf, type References, readReferences } from './mirror-refs.ts';
import type { Place } from './repository.ts';
import { type Source, type SourceFile, small, wholeOf } from './source.ts';
import { type Format, makeFolder } from './stand-in.ts';

export interface Mirror {
  /** The folder that git runs in, with our own `HEAD`. References of the repository are read from `place`. */
  readonly directory: string;
  readonly place: Pick<Place, 'gitDirectory' | 'commonDirectory'>;
  /** Checks whether references have moved, and takes over new objects. @throws ResourceError */
  refresh(): Promise<void>;
  /** Removes the copy once running work has ended. */
  close(): Promise<void>;
}

/** Files of objects up to this many bytes are copied. Larger ones are linked, while fewer than `MAX_HELD` are, else copied. */
const MAX_COPIED_BYTES = 128 * 1024;

/** The most bytes of all copied objects, the most objects, and the most files held open. */
const MAX_ALL_BYTES = 256 * 1024 ** 2;
const MAX_TAKEN = 50_000;
const MAX_HELD = 256;

/** The most bytes of a small file such as `config`. */
const MAX_SMALL_BYTES = 1024 ** 2;

const LOOSE = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/;
const FAN_OUT = /^[0-9a-f]{2}$/;
const PACK = /^pack-[0-9a-f]+\.(?:pack|idx)$/;

/** Returns the configuration that the owner of the repository wrote; undefined if there is none. */
export const configurationOf = (source: Source): Promise<Buffer | undefined> =>
  small(source, ['config'], MAX_SMALL_BYTES);

/** @throws ResourceError `invalid` or `too-large` for a repository that cannot be mirrored */
export async function makeMirror(source: Source, format: Format): Promise<Mirror> {
  if (format.reftable) throw invalid('The repository keeps its references in tables; mount it as a repository');
  if ((await small(source, ['commondir'], MAX_SMALL_BYTES)) !== undefined)
    throw invalid('This is a worktree of another repository; open that repository instead');
  const folder = makeFolder(format);
  for (const name of ['refs', 'own']) mkdirSync(join(folder.directory, name));
  const at = (...names: string[]): string => join(folder.directory, ...names);
  /** The objects and packs that were taken over, by path. The file of a linked one stays open. */
  const taken = new Map<string, { readonly size: number; readonly file: SourceFile | undefined }>();
  /** Bytes of all copied objects. */
  let copied = 0;
  let before: References | undefined;
  const turn = breaks();
  let latest: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  let closed = false;

  async function sync(): Promise<void> {
    if (closed) throw gone();
    const now = await readReferences(source);
    if (before !== undefined && isSame(now, before)) return;
    const isWhole = await takeObjects();
    // References come last, so that every reference leads to an object that is there.
    // An empty `shallow` file would mean a shallow clone.
    if (now.shallow.byteLength === 0) await rm(at('shallow'), { force: true });
    else await put('shallow', now.shallow);
    await put('packed-refs', packedOf(now));
    await put('own/HEAD', headOf(now));
    before = isWhole ? now : undefined;
  }

  async function put(name: string, content: string | Buffer): Promise<void> {
    await writeFile(at(`${name}.new`), content, 'latin1');
    await rename(at(`${name}.new`), at(name));
  }

  /**
   * Takes over all new objects. Loose objects come first: one that is packed meanwhile is then found in its pack.
   * @returns whether every listed pack could be opened. If one is gone, another pack has replaced it.
   */
  async function takeObjects(): Promise<boolean> {
    const borrowed = await small(source, ['objects', 'info', 'alternates'], MAX_SMALL_BYTES);
    if (borrowed !== undefined && borrowed.length > 0) throw elsewhere();
    const there = new Set<string>();
    for (const { name, kind } of (await source.entries(['objects'])) ?? []) {
      if (kind === 'other') throw elsewhere();
      if (kind === 'folder' && FAN_OUT.test(name)) await takeAll(['objects', name], LOOSE, there);
    }
    await takeAll(['objects', 'pack'], PACK, there);
    for (const [name, { size, file }] of taken) {
      if (there.has(name)) continue;
      taken.delete(name);
      if (file === undefined) copied -= size;
      await rm(at(name), { force: true });
      await file?.close();
    }
    return [...there].every((name) => taken.has(name) || !name.startsWith('objects/pack/'));
  }

  async function takeAll(path: readonly string[], like: RegExp, there: Set<string>): Promise<void> {
    const entries = ((await source.entries(path)) ?? []).filter(({ name }) => like.test(name));
    if (entries.some(({ kind }) => kind !== 'file')) throw elsewhere();
    if (entries.length > 0) await mkdir(at(...path), { recursive: true });
    // Git looks for the index of a pack first, so the index comes last.
    for (const { name } of entries.toSorted((a, b) => (a.name > b.name ? -1 : 1))) {
      await take([...path, name]);
      there.add([...path, name].join('/'));
    }
  }

  /** Takes over one object or pack, once: the content under a name never changes. */
  async function take(path: readonly string[]): Promise<void> {
    const name = path.join('/');
    if (taken.has(name)) return;
    if (closed) throw gone();
    const file = await source.open(path);
    if (file === undefined) return;
    const { size } = file;
    const isHeld = size > MAX_COPIED_BYTES && held() < MAX_HELD;
    try {
      if (isHeld) await symlink(file.path, at(name));
      else {
        if (taken.size >= MAX_TAKEN || copied + size > MAX_ALL_BYTES)
          throw new ResourceError('too-large', 'The repository has too many loose objects; run git gc to pack them');
        // Writing synchronously costs less than a thread of the pool.
        writeFileSync(at(name), await wholeOf(file));
        await turn();
        copied += size;
      }
      taken.set(name, { size, file: isHeld ? file : undefined });
    } finally {
      if (!isHeld) await file.close();
    }
  }

  const held = (): number => [...taken.values()].filter(({ file }) => file !== undefined).length;

  function refresh(): Promise<void> {
    // A running sync may have missed the latest change, so the caller waits for the next one.
    queued ??= latest.then(() => {
      queued = undefined;
      return sync();
    });
    latest = queued.catch(() => {});
    return queued;
  }

  async function close(): Promise<void> {
    closed = true;
    await latest;
    folder.remove();
    await Promise.all([...taken.values()].map(({ file }) => file?.close()));
    taken.clear();
  }

  try {
    await refresh();
  } catch (error) {
    await close();
    throw error;
  }
  const { directory } = folder;
  return { directory, place: { gitDirectory: at('own'), commonDirectory: directory }, refresh, close };
}

const gone = (): ResourceError => new ResourceError('unavailable', 'The repository is closed');

const elsewhere = (): ResourceError => invalid('The repository keeps objects in another folder, which is not followed');
