/**
 * Looks up branches, tags and HEAD. A reference is looked up by its full name in git's own files, without a process.
 * Git's own look-up would also accept revision expressions and hashes.
 */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isHash, isRefName } from './address.ts';
import { type Git, gitFailed, recordsOf, runGit } from './command.ts';
import { type Place, readHead } from './repository.ts';

export interface Ref {
  /** The full name, as in `refs/heads/main`, one character per byte. */
  readonly name: string;
  readonly oid: string;
}

export interface Refs {
  /** The hash that HEAD leads to; undefined if its branch does not exist yet. */
  head(signal: AbortSignal): Promise<string | undefined>;
  /** The hash of a reference, by its full name. */
  find(name: string, signal: AbortSignal): Promise<string | undefined>;
  /** The references below prefixes such as `refs/heads`, in byte order. */
  below(prefixes: readonly string[], signal: AbortSignal): AsyncGenerator<Ref>;
}

/** The most symbolic references in a row, each leading to the next. */
const MAX_LINKS = 5;

const MAX_LOOSE_BYTES = 8_192;

/** The most bytes of `packed-refs` that are cached; in a repository with more, each look-up runs a command. */
const MAX_PACKED_BYTES = 64 * 1024 * 1024;

/** The content of `packed-refs` as last read. */
export interface Packed {
  latest: { readonly key: string; readonly bytes: Buffer } | undefined;
}

export const createPacked = (): Packed => ({ latest: undefined });

export function createRefs(git: Git, place: Place, reftable: boolean, packed: Packed): Refs {
  async function* below(prefixes: readonly string[], signal: AbortSignal): AsyncGenerator<Ref> {
    if (prefixes.length === 0) return;
    const args = ['for-each-ref', '--format=%(objectname) %(refname)', '--', ...prefixes];
    for await (const record of recordsOf(runGit(git, args, { signal }))) {
      const at = record.indexOf(' ');
      yield { oid: record.slice(0, at), name: record.slice(at + 1) };
    }
  }

  async function find(name: string, signal: AbortSignal, links = MAX_LINKS): Promise<string | undefined> {
    signal.throwIfAborted();
    if (!name.startsWith('refs/') || !isRefName(name)) return undefined;
    if (reftable) return asked(name, signal);
    const loose = await looseRef(place, name);
    if (loose !== undefined) return follow(loose, signal, links);
    return findPacked(name, signal);
  }

  function follow(text: string, signal: AbortSignal, links: number): Promise<string | undefined> | string | undefined {
    if (isHash(text)) return text;
    const target = /^ref:\s*(refs\/.+)$/.exec(text)?.[1];
    return target === undefined || links === 0 ? undefined : find(target, signal, links - 1);
  }

  async function findPacked(name: string, signal: AbortSignal): Promise<string | undefined> {
    const path = join(place.commonDirectory, 'packed-refs');
    const stats = await stat(path, { bigint: true }).catch(absent);
    if (stats === undefined) return undefined;
    if (stats.size > MAX_PACKED_BYTES) return asked(name, signal);
    const key = `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
    if (packed.latest?.key !== key) {
      const bytes = await readBounded(path, Number(stats.size)).catch(absent);
      if (bytes === undefined) return undefined;
      packed.latest = { key, bytes };
    }
    const { bytes } = packed.latest;
    const at = bytes.indexOf(` ${name}\n`, 0, 'latin1');
    if (at === -1) return undefined;
    const oid = bytes.toString('latin1', bytes.lastIndexOf(10, at) + 1, at);
    return isHash(oid) ? oid : undefined;
  }

  /** The slow way: runs a command that lists this one reference. */
  async function asked(name: string, signal: AbortSignal): Promise<string | undefined> {
    for await (const ref of below([Buffer.from(name, 'latin1').toString('utf8')], signal)) {
      if (ref.name === name) return ref.oid;
    }
    return undefined;
  }

  /** Asks git for HEAD, which is not in a file if references are in tables. Git prints nothing if its branch does not exist yet. */
  async function askedHead(signal: AbortSignal): Promise<string | undefined> {
    const args = ['rev-parse', '--verify', '--quiet', 'HEAD'];
    for await (const oid of recordsOf(runGit(git, args, { signal, accepts: [0, 1] }))) if (isHash(oid)) return oid;
    return undefined;
  }

  return {
    async head(signal) {
      if (reftable) return askedHead(signal);
      return follow((await readHead(place)) ?? '', signal, MAX_LINKS);
    },
    find: (name, signal) => find(name, signal),
    below,
  };
}

/** The codes of system errors for a path without a file: nothing is there, a folder is there, or a parent is a file. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG']);

/** @throws ResourceError `unavailable` if the file may be there but cannot be read, for example because too many files are open */
function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && ABSENT.has(error.code)) return undefined;
  throw gitFailed(error);
}

/** Returns the text of a loose reference; undefined if there is none. */
async function looseRef({ commonDirectory }: Place, name: string): Promise<string | undefined> {
  const path = Buffer.concat([Buffer.from(`${commonDirectory}/`), Buffer.from(name, 'latin1')]);
  const bytes = await readBounded(path, MAX_LOOSE_BYTES).catch(absent);
  return bytes?.toString('latin1').trimEnd();
}

/** Returns the first `maxBytes` of a file; undefined for anything else, such as a folder. */
async function readBounded(path: string | Buffer, maxBytes: number): Promise<Buffer | undefined> {
  // With O_NONBLOCK, opening a named pipe does not wait until somebody writes to it.
  await using handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  if (!(await handle.stat()).isFile()) return undefined;
  const buffer = Buffer.alloc(maxBytes);
  let filled = 0;
  while (filled < maxBytes) {
    const { bytesRead } = await handle.read(buffer, filled, maxBytes - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
