/** The rules of one skill (SEP-2640, Agent Skills): where its folder is, and what its `SKILL.md` has to say. */
import {
  DYNAMIC,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  SKILL_FILE,
  SKILL_NAME,
  type Skill,
  type SkillFrontmatter,
  type SkillResource,
} from '../protocol/skills.ts';
import { ResourceError } from './errors.ts';
import { LineFault, parseHead, splitFrontMatter } from './front-matter.ts';
import { compileGlobs } from './glob/index.ts';
import type { Mount } from './mounts/mount.ts';
import { hasDotSegments } from './uri/foreign.ts';
import { nameOfUri } from './uri.ts';

/** Characters of a skill's description. */
export const MAX_SKILL_DESCRIPTION = 1_024;

/** Why something cannot be served as a skill, in words for its author. */
export class SkillFault extends Error {
  override readonly name = 'SkillFault';
}

/** The URI of the folder of a `SKILL.md`, without a slash at its end; undefined of any other URI. */
export function skillFolderOf(uri: string): string | undefined {
  return uri.endsWith(`/${SKILL_FILE}`) ? uri.slice(0, -SKILL_FILE.length - 1) : undefined;
}

/** No caller learns whether there is a skill that it may not read. */
export const noSuchSkill = (uri: string): ResourceError =>
  new ResourceError('invalid', 'No skill is served at this URI', { uri });

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The front matter of a `SKILL.md`, every field as its author wrote it.
 * @param uri of the `SKILL.md`: the segment before its last one is the name of the skill
 * @throws SkillFault
 */
export async function skillFrontmatterOf(uri: string, bytes: Uint8Array): Promise<SkillFrontmatter> {
  const value = await headOf(bytes);
  assertSkillHead(uri, value);
  return value;
}

/** @throws SkillFault for what front matter of this URI's skill cannot say */
function assertSkillHead(uri: string, value: Readonly<Record<string, unknown>>): asserts value is SkillFrontmatter {
  const { name, description } = value;
  if (typeof name !== 'string') throw new SkillFault('its front matter has no name, or one that is no text');
  if (!SKILL_NAME.test(name))
    throw new SkillFault(
      `its name ${JSON.stringify(name.slice(0, 80))} is not one: 1 to 64 of a-z and 0-9, with single hyphens between them`,
    );
  const folder = nameOfUri(skillFolderOf(uri) ?? '');
  if (folder !== name) throw new SkillFault(`its name is "${name}", and its folder is called "${folder ?? ''}"`);
  if (typeof description !== 'string' || description.trim() === '')
    throw new SkillFault('its front matter has no description, or one that is no text');
  if (description.length > MAX_SKILL_DESCRIPTION)
    throw new SkillFault(`its description has more than ${MAX_SKILL_DESCRIPTION} characters`);
}

/** @throws SkillFault for more than hosts have to take */
export function assertSkillFits(files: readonly { readonly size?: number | undefined }[]): void {
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
  if (files.length > MAX_SKILL_FILES)
    throw new SkillFault(`it has ${files.length} files, and a skill has at most ${MAX_SKILL_FILES}`);
  if (bytes > MAX_SKILL_BYTES)
    throw new SkillFault(
      `its files have ${bytes} bytes together, and those of a skill have at most ${MAX_SKILL_BYTES}`,
    );
}

/** Why an entry of another server, of the right shape, is none of a skill; undefined where it is one. */
export function skillProblem({ uri, frontmatter, resources }: Skill): string | undefined {
  try {
    const folder = skillFolderOf(uri);
    if (folder === undefined) throw new SkillFault(`its URI does not end with /${SKILL_FILE}`);
    assertSkillHead(uri, frontmatter);
    if (resources !== DYNAMIC) assertManifest(uri, `${folder}/`, resources);
    return undefined;
  } catch (error) {
    if (error instanceof SkillFault) return error.message;
    throw error;
  }
}

function assertManifest(uri: string, within: string, resources: readonly SkillResource[]): void {
  assertSkillFits(resources);
  const uris = new Set(resources.map((each) => each.uri));
  if (uris.size < resources.length) throw new SkillFault('its manifest has a file twice');
  if (!uris.has(uri)) throw new SkillFault(`its manifest has no ${SKILL_FILE}`);
  const stray = [...uris].find((each) => !each.startsWith(within) || hasDotSegments(each));
  if (stray !== undefined) throw new SkillFault('its manifest has a file that is not in its folder');
}

/** Which skills of a mount are wanted, by the mount's own URI of the `SKILL.md`: all where no globs are given. */
export function skillFilter({ skills }: Pick<Mount, 'skills'>): (uri: string) => boolean {
  const globs = typeof skills === 'object' ? compileGlobs(skills, 'path') : undefined;
  return (uri) => globs === undefined || globs.matches(pathOf(skillFolderOf(uri) ?? ''));
}

/** The path of a folder as globs see it: decoded, and without the scheme and the slashes before it. */
function pathOf(folder: string): string {
  const path = folder.slice(folder.indexOf(':') + 1).replace(/^\/+/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
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
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new SkillFault('its front matter is not a mapping');
    const field = Object.entries(value).find(([, each]) => !isJson(each))?.[0];
    if (field !== undefined) throw new SkillFault(`its field "${field}" is nothing that JSON has`);
    return value as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw error instanceof LineFault ? new SkillFault(`${error.message} (line ${error.line})`) : error;
  }
}

/** YAML has numbers that JSON has not. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson);
  return typeof value !== 'bigint' && typeof value !== 'undefined';
}
