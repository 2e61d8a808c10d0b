/** Reads the front matter of a `SKILL.md`, and selects the skills of a mount. */
import { isData } from '../protocol/data.ts';
import type { Skill, SkillFrontmatter } from '../protocol/skills.ts';
import { ResourceError } from './errors.ts';
import { LineFault, parseHead, splitFrontMatter } from './front-matter.ts';
import { compileGlobs } from './glob/index.ts';
import type { Mount } from './mounts/mount.ts';
import { assertSkillEntry, assertSkillName, SkillFault, skillFolderOf } from './skill-entry.ts';
import { decodedText } from './uri.ts';

/** The most characters of a skill's description. */
export const MAX_SKILL_DESCRIPTION = 1_024;

/** The most levels of lists and mappings in a field of the front matter. */
const MAX_LEVELS = 64;

/** The error for a skill that does not exist, and for one that the caller may not read: the caller cannot tell them apart. */
export const noSuchSkill = (uri: string): ResourceError =>
  new ResourceError('invalid', 'No skill is served at this URI', { uri });

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the front matter of a `SKILL.md`, with every field as its author wrote it.
 * @param uri of the `SKILL.md`: its last segment but one is the name of the skill
 * @throws SkillFault for front matter that is missing, cannot be parsed or breaks a rule
 */
export async function skillFrontmatterOf(uri: string, bytes: Uint8Array): Promise<SkillFrontmatter> {
  const value = await headOf(bytes);
  assertSkillHead(uri, value);
  return value;
}

/** @throws SkillFault for a name or a description that this skill cannot have */
function assertSkillHead(uri: string, value: Readonly<Record<string, unknown>>): asserts value is SkillFrontmatter {
  const { name, description } = value;
  if (typeof name !== 'string') throw new SkillFault('its front matter has no name, or one that is no text');
  assertSkillName(uri, name);
  if (typeof description !== 'string' || description.trim() === '')
    throw new SkillFault('its front matter has no description, or one that is no text');
  if (description.length > MAX_SKILL_DESCRIPTION)
    throw new SkillFault(`its description has more than ${MAX_SKILL_DESCRIPTION} characters`);
}

/** Tells what is wrong with an entry that another server sent and whose shape is right; undefined if it is valid. */
export function skillProblem(skill: Skill): string | undefined {
  try {
    assertSkillEntry(skill);
    assertSkillHead(skill.uri, skill.frontmatter);
    return undefined;
  } catch (error) {
    if (error instanceof SkillFault) return error.message;
    throw error;
  }
}

/**
 * Returns a function that takes the native URI of a `SKILL.md` and tells whether the mount serves the skill: whether it matches the
 * globs in the mount's option `skills`, if there are globs, else always.
 */
export function skillFilter({ skills }: Pick<Mount, 'skills'>): (uri: string) => boolean {
  const globs = typeof skills === 'object' ? compileGlobs(skills, 'path') : undefined;
  return (uri) => globs === undefined || globs.matches(pathOf(skillFolderOf(uri) ?? ''));
}

/** Returns the path that globs are compared with: the folder's URI without its scheme and leading slashes, decoded. */
function pathOf(folder: string): string {
  return decodedText(folder.slice(folder.indexOf(':') + 1).replace(/^\/+/, ''));
}

async function headOf(bytes: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new SkillFault('it is not UTF-8');
  }
  try {
    const { head } = splitFrontMatter(text);
    if (head === undefined) throw new SkillFault('it does not begin with front matter, a line of ---');
    const { value } = await parseHead(head);
    if (!isData(value)) throw new SkillFault('its front matter is not a mapping');
    const field = Object.entries(value).find(([, each]) => !isJson(each))?.[0];
    if (field !== undefined)
      throw new SkillFault(
        `its field "${field}" has a value that JSON does not have, or more than ${MAX_LEVELS} levels`,
      );
    return value;
  } catch (error) {
    throw error instanceof LineFault ? new SkillFault(`${error.message} (line ${error.line})`) : error;
  }
}

/**
 * Whether a value from YAML can be written as JSON. YAML also has infinite numbers, bytes and sets, and by an alias a value
 * can contain itself.
 */
function isJson(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint' && typeof value !== 'undefined';
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return isPlain && levels > 0 && Object.values(value).every((each) => isJson(each, levels - 1));
}
