/** Makes the entry of a skill from the files in its folder. If a file cannot be served, there is no entry. */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ServedSkill } from '../../core/operations.ts';
import { skillFrontmatterOf } from '../../core/skill.ts';
import { assertSkillFits, SkillFault } from '../../core/skill-entry.ts';
import type { Resource } from '../../protocol/resources.ts';
import { DYNAMIC, type Skill, type SkillFrontmatter, type SkillResource } from '../../protocol/skills.ts';
import type { Digests, Hashed } from './digests.ts';

/** Files that are hashed at once. */
const HASHED_AT_ONCE = 4;

/** The front matter of the `SKILL.md` with this digest. */
interface Head {
  readonly digest: string;
  readonly frontmatter: SkillFrontmatter;
}

export interface Entries {
  /**
   * @param uri of the `SKILL.md`
   * @param files of the skill, with those of skills in it, in the order of their URIs
   * @throws SkillFault with a message for the skill's author, and the error of a mount that does not answer now
   */
  make(uri: string, files: readonly Resource[], ctx: Context): Promise<ServedSkill>;
  /** Forgets all but these URIs. */
  retain(uris: ReadonlyMap<string, unknown>): void;
}

export function createEntries(digests: Digests, mount: string): Entries {
  const heads = new Map<string, Head>();
  const made = new Map<string, ServedSkill>();

  /** The entry that was made of the same files in the same state. */
  function again(uri: string, files: readonly Resource[]): ServedSkill | undefined {
    const before = made.get(uri);
    if (before === undefined || before.files.size !== files.length) return undefined;
    const isSame = files.every((file) => before.files.has(file.uri) && digests.isKept(file));
    // Uses the new list of files, because access depends on the targets of links, which may have changed.
    return isSame ? { ...before, files: byUris(files) } : undefined;
  }

  async function headOf(resource: Resource, ctx: Context): Promise<{ hashed: Hashed; frontmatter: SkillFrontmatter }> {
    const { uri } = resource;
    const before = heads.get(uri);
    const first = await digests.of(resource, before === undefined, ctx);
    if (before?.digest === first.digest) return { hashed: first, frontmatter: before.frontmatter };
    const hashed = first.bytes === undefined ? await digests.of(resource, true, ctx) : first;
    const frontmatter = await skillFrontmatterOf(uri, hashed.bytes ?? new Uint8Array());
    heads.set(uri, { digest: hashed.digest, frontmatter });
    return { hashed, frontmatter };
  }

  return {
    async make(uri, files, ctx) {
      const before = again(uri, files);
      if (before !== undefined) return before;
      assertSkillFits(files);
      const head = files.find((file) => file.uri === uri);
      if (head === undefined) throw new SkillFault('its SKILL.md is gone');
      try {
        const { hashed, frontmatter } = await headOf(head, ctx);
        const others = files.filter((file) => file !== head);
        const all = [hashed, ...(await eachOf(others, (file) => digests.of(file, false, ctx)))];
        assertSkillFits(all);
        const manifest = all.some(({ dynamic }) => dynamic) ? DYNAMIC : all.map(listed).sort(byUri);
        const skill: Skill = { uri, frontmatter, resources: manifest };
        const served = { skill, mount, files: byUris(files) };
        made.set(uri, served);
        return served;
      } catch (error) {
        throw faultOf(error, ctx);
      }
    },
    retain(uris) {
      for (const map of [heads, made]) for (const uri of map.keys()) if (!uris.has(uri)) map.delete(uri);
    },
  };
}

const byUris = (files: readonly Resource[]): ReadonlyMap<string, Resource> =>
  new Map(files.map((file) => [file.uri, file]));

/** Orders by URI, in UTF-16 units, as cursors do. */
export const byUri = (a: { readonly uri: string }, b: { readonly uri: string }): number =>
  a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0;

const listed = ({ uri, digest, size }: Hashed): SkillResource => ({ uri, digest, size });

/** Turns the error of a file that is refused into a fault of the skill. An error of a mount that is away stays as it is. */
function faultOf(error: unknown, { signal }: Context): unknown {
  if (signal.aborted || !(error instanceof ResourceError) || error.code === 'unavailable') return error;
  return new SkillFault(`${error.uri ?? 'a file'} cannot be read: ${error.message}`, { cause: error });
}

async function eachOf<T, U>(values: readonly T[], run: (value: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  const rest = values.entries();
  const work = async (): Promise<void> => {
    for (const [index, value] of rest) results[index] = await run(value);
  };
  await Promise.all(Array.from({ length: HASHED_AT_ONCE }, work));
  return results;
}
