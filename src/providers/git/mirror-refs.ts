/** Reads the references of a repository without git, and writes them as one file for git. */
import { ResourceError } from '../../core/errors.ts';
import { isHash, isRefName } from './address.ts';
import { type Source, small } from './source.ts';

/** The most loose references, the depth of their names, and the bytes of one, of all packed ones, and of `shallow`. */
const MAX_LOOSE_REFS = 10_000;
const MAX_REF_DEPTH = 32;
const MAX_REF_BYTES = 8_192;
const MAX_PACKED_BYTES = 16 * 1024 ** 2;
const MAX_SHALLOW_BYTES = 1024 ** 2;

/** The most symbolic references in a row, each leading to the next. */
const MAX_LINKS = 5;

/** The references as the repository stores them. */
export interface References {
  /** The text of `HEAD`. */
  readonly head: string;
  /** The text of each loose reference by its name; empty for a folder. */
  readonly loose: ReadonlyMap<string, string>;
  readonly packed: Buffer;
  /** Commits whose parents are missing in a shallow clone; empty in a full one. */
  readonly shallow: Buffer;
}

const NONE = Buffer.alloc(0);

/** @throws ResourceError `too-large` */
export async function readReferences(source: Source): Promise<References> {
  // Reads loose references first: one that is packed meanwhile is then found among the packed ones.
  const head = text(await small(source, ['HEAD'], MAX_REF_BYTES));
  const loose = new Map<string, string>();
  for (const top of ['heads', 'tags']) await addLoose(source, ['refs', top], loose);
  const packed = (await small(source, ['packed-refs'], MAX_PACKED_BYTES)) ?? NONE;
  const shallow = (await small(source, ['shallow'], MAX_SHALLOW_BYTES)) ?? NONE;
  return { head, loose, packed, shallow };
}

export const isSame = (a: References, b: References): boolean =>
  a.head === b.head &&
  a.loose.size === b.loose.size &&
  [...a.loose].every(([name, said]) => b.loose.get(name) === said) &&
  a.packed.equals(b.packed) &&
  a.shallow.equals(b.shallow);

/** Returns a valid content of `HEAD`: the same if it is valid, otherwise a branch that does not exist. */
export const headOf = ({ head }: References): string =>
  isHash(head) || isRefName(targetOf(head) ?? '') ? `${head}\n` : 'ref: refs/heads/.none\n';

/** Returns the content of a `packed-refs` with all branches and tags, each with the hash it leads to. */
export function packedOf({ loose, packed }: References): string {
  const all = new Map<string, string>();
  for (const line of text(packed).split('\n')) {
    const [, oid = '', name = ''] = /^([0-9a-f]+) (refs\/.+)$/.exec(line) ?? [];
    if (isHash(oid) && isRefName(name)) all.set(name, oid);
  }
  for (const name of loose.keys()) {
    const oid = followed(name, loose, all);
    if (oid !== undefined) all.set(name, oid);
  }
  const shown = [...all].filter(([name]) => /^refs\/(?:heads|tags)\//.test(name));
  const lines = shown.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, oid]) => `${oid} ${name}\n`);
  return lines.join('');
}

async function addLoose(source: Source, path: readonly string[], loose: Map<string, string>): Promise<void> {
  if (path.length > MAX_REF_DEPTH) return;
  for (const { name, kind } of (await source.entries(path)) ?? []) {
    const own = [...path, name];
    const full = Buffer.from(own.join('/')).toString('latin1');
    if (kind === 'other' || !isRefName(full)) continue;
    if (loose.size >= MAX_LOOSE_REFS)
      throw new ResourceError('too-large', 'The repository has too many loose references; git pack-refs packs them');
    // A folder counts towards the limit too, and has no text.
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
