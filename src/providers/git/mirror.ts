/**
 * A repository in a folder that others write in, as git may see it: a folder of our own with our configuration, copies of
 * the references and of small objects, and links to large ones, which stay open so that each leads to the very file that
 * was looked at. Whatever is put into the repository later, links to elsewhere too, git does not come by it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { breaks } from '../../core/breaks.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import { isHash, isRefName } from './address.ts';
import type { Place } from './repository.ts';
import { type Format, makeFolder } from './stand-in.ts';

/** The repository's own folder: the names in it, and its files, never through a link. */
export interface Source {
  entries(path: readonly string[]): Promise<readonly SourceEntry[] | undefined>;
  open(path: readonly string[]): Promise<SourceFile | undefined>;
}

interface SourceEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

interface SourceFile {
  /** Bytes. */
  readonly size: number;
  /** Leads git to this file for as long as it is open. */
  readonly path: string;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<number>;
  close(): Promise<void>;
}

export interface Mirror {
  /** The folder that git is run in, with a `HEAD` of our own, and where the repository's `HEAD` and references are read. */
  readonly directory: string;
  readonly place: Pick<Place, 'gitDirectory' | 'commonDirectory'>;
  /** Looks whether references have moved, and takes over what has come. @throws ResourceError */
  refresh(): Promise<void>;
  /** Removes it when what is under way has ended. */
  close(): Promise<void>;
}

/** Bytes of an object that is copied; larger ones are linked to. */
const MAX_COPIED_BYTES = 128 * 1024;

/** Bytes of all that are copied, how many those are, and how many files are held open. */
const MAX_ALL_BYTES = 256 * 1024 ** 2;
const MAX_TAKEN = 50_000;
const MAX_HELD = 256;

/** Loose references, how deep their names go, and bytes of one, of all packed ones, and of other files. */
const MAX_LOOSE_REFS = 10_000;
const MAX_REF_DEPTH = 32;
const MAX_REF_BYTES = 8_192;
const MAX_PACKED_BYTES = 16 * 1024 ** 2;
const MAX_SMALL_BYTES = 1024 ** 2;

/** References that lead to another one are followed this often. */
const MAX_LINKS = 5;

const LOOSE = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/;
const FAN_OUT = /^[0-9a-f]{2}$/;
const PACK = /^pack-[0-9a-f]+\.(?:pack|idx)$/;

/** The configuration of a repository, as its owner wrote it; undefined where it has none. */
export const configurationOf = (source: Source): Promise<Buffer | undefined> =>
  small(source, ['config'], MAX_SMALL_BYTES);

/** @throws ResourceError `invalid`, `too-large` for what cannot be gone into */
export async function makeMirror(source: Source, format: Format): Promise<Mirror> {
  if (format.reftable) throw invalid('The repository keeps its references in tables; mount it as a repository');
  if ((await small(source, ['commondir'], MAX_SMALL_BYTES)) !== undefined)
    throw invalid('This is a part of another repository; go into that one');
  const folder = makeFolder(format);
  for (const name of ['refs', 'own']) mkdirSync(join(folder.directory, name));
  const at = (...names: string[]): string => join(folder.directory, ...names);
  /** Objects and packs that were taken over, by their paths; a file that is linked to stays open. */
  const taken = new Map<string, { readonly size: number; readonly file: SourceFile | undefined }>();
  /** Bytes of all that are copied. */
  let copied = 0;
  let before: string | undefined;
  const turn = breaks();
  let latest: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;
  let closed = false;

  async function sync(): Promise<void> {
    if (closed) throw new ResourceError('unavailable', 'The repository is closed');
    const { head, packed, shallow } = await referencesOf(source);
    const now = `${head}\n${shallow?.toString('latin1')}\n${packed}`;
    if (now === before) return;
    await takeObjects();
    // Last, so that whoever finds a reference finds what it leads to.
    if (shallow === undefined) await rm(at('shallow'), { force: true });
    else await put('shallow', shallow);
    await put('packed-refs', packed);
    await put('own/HEAD', head);
    before = now;
  }

  async function put(name: string, content: string | Buffer): Promise<void> {
    await writeFile(at(`${name}.new`), content, 'latin1');
    await rename(at(`${name}.new`), at(name));
  }

  /** Loose objects first: one that is packed meanwhile is found in its pack. */
  async function takeObjects(): Promise<void> {
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
  }

  async function takeAll(path: readonly string[], like: RegExp, there: Set<string>): Promise<void> {
    const entries = ((await source.entries(path)) ?? []).filter(({ name }) => like.test(name));
    if (entries.some(({ kind }) => kind !== 'file')) throw elsewhere();
    if (entries.length > 0) await mkdir(at(...path), { recursive: true });
    // Of a pack, git looks for the index first, so that comes last.
    for (const { name } of entries.toSorted((a, b) => (a.name > b.name ? -1 : 1))) {
      await take([...path, name]);
      there.add([...path, name].join('/'));
    }
  }

  /** Takes over one object or pack, once: a name has one content for ever. */
  async function take(path: readonly string[]): Promise<void> {
    const name = path.join('/');
    if (taken.has(name)) return;
    const file = await source.open(path);
    if (file === undefined) return;
    const { size } = file;
    const isHeld = size > MAX_COPIED_BYTES && held() < MAX_HELD;
    try {
      if (isHeld) await symlink(file.path, at(name));
      else {
        if (taken.size >= MAX_TAKEN || copied + size > MAX_ALL_BYTES)
          throw new ResourceError('too-large', 'The repository has too many objects by themselves; git gc packs them');
        // At once, which costs less than the thread that it would be given to.
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
    // Whoever comes while one is under way needs the next one: it may have passed by what has just changed.
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

const elsewhere = (): ResourceError => invalid('The repository has objects elsewhere, which are not gone into');

interface References {
  /** The content of `HEAD`. */
  readonly head: string;
  /** All that are shown, as in `packed-refs`. */
  readonly packed: string;
  readonly shallow: Buffer | undefined;
}

async function referencesOf(source: Source): Promise<References> {
  // Loose ones first: one that is packed meanwhile is found among the packed ones.
  const head = text(await small(source, ['HEAD'], MAX_REF_BYTES));
  const loose = new Map<string, string>();
  for (const top of ['heads', 'tags']) await addLoose(source, ['refs', top], loose);
  const all = new Map<string, string>();
  for (const line of text(await small(source, ['packed-refs'], MAX_PACKED_BYTES)).split('\n')) {
    const [, oid = '', name = ''] = /^([0-9a-f]+) (refs\/.+)$/.exec(line) ?? [];
    if (isHash(oid) && isRefName(name)) all.set(name, oid);
  }
  for (const name of loose.keys()) {
    const oid = followed(name, loose, all);
    if (oid !== undefined) all.set(name, oid);
  }
  const shown = [...all].filter(([name]) => /^refs\/(?:heads|tags)\//.test(name));
  const lines = shown.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, oid]) => `${oid} ${name}\n`);
  return {
    head: isHash(head) || isRefName(targetOf(head) ?? '') ? `${head}\n` : 'ref: refs/heads/.none\n',
    packed: lines.join(''),
    shallow: await small(source, ['shallow'], MAX_SMALL_BYTES),
  };
}

async function addLoose(source: Source, path: readonly string[], loose: Map<string, string>): Promise<void> {
  if (path.length > MAX_REF_DEPTH) return;
  for (const { name, kind } of (await source.entries(path)) ?? []) {
    const own = [...path, name];
    const full = Buffer.from(own.join('/')).toString('latin1');
    if (kind === 'other' || !isRefName(full)) continue;
    if (loose.size >= MAX_LOOSE_REFS)
      throw new ResourceError('too-large', 'The repository has too many loose references; git pack-refs packs them');
    // A folder counts, too, and says nothing.
    loose.set(full, kind === 'folder' ? '' : text(await small(source, own, MAX_REF_BYTES)));
    if (kind === 'folder') await addLoose(source, own, loose);
  }
}

function followed(name: string, loose: ReadonlyMap<string, string>, packed: ReadonlyMap<string, string>) {
  let next = name;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const said = loose.get(next);
    if (said === undefined || said === '') return packed.get(next);
    if (isHash(said)) return said;
    const target = targetOf(said);
    if (target === undefined) return undefined;
    next = target;
  }
  return undefined;
}

const targetOf = (said: string): string | undefined => /^ref:\s*(refs\/.+)$/.exec(said)?.[1];

const text = (bytes: Buffer | undefined): string => bytes?.toString('latin1').trimEnd() ?? '';

/** The content of a small file; undefined where there is none. @throws ResourceError `too-large` */
async function small(source: Source, path: readonly string[], maxBytes: number): Promise<Buffer | undefined> {
  const file = await source.open(path);
  if (file === undefined) return undefined;
  try {
    if (file.size > maxBytes)
      throw new ResourceError('too-large', `A file of the repository has more than ${maxBytes} bytes: ${path.at(-1)}`);
    return await wholeOf(file);
  } finally {
    await file.close();
  }
}

/** The bytes of a file, up to the size that it had when it was opened. */
async function wholeOf(file: SourceFile): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  let filled = 0;
  while (filled < bytes.byteLength) {
    const read = await file.read(bytes, filled, bytes.byteLength - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}
