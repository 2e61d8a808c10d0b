/** Checks the entry of a skill (SEP-2640, Agent Skills): its URI, its name and its files, with the same rules for own and foreign ones. */
import {
  DYNAMIC,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  SKILL_FILE,
  SKILL_NAME,
  type Skill,
  type SkillResource,
} from '../protocol/skills.ts';
import { hasDotSegments } from './uri/decoding.ts';
import { decodedText, nameOfUri } from './uri.ts';

/** Tells the author of a skill why it cannot be served, or why a foreign entry is not accepted. */
export class SkillFault extends Error {
  override readonly name: string = 'SkillFault';
}

/** The skill has more files or more bytes than hosts must accept. */
export class SkillTooLarge extends SkillFault {
  override readonly name = 'SkillTooLarge';
}

/** Returns the URI of the folder of a `SKILL.md`, without a slash at its end; undefined for any other URI. */
export function skillFolderOf(uri: string): string | undefined {
  return uri.endsWith(`/${SKILL_FILE}`) ? uri.slice(0, -SKILL_FILE.length - 1) : undefined;
}

/** @throws SkillFault for a name that is not allowed, or that differs from the name of the skill's folder */
export function assertSkillName(uri: string, name: string): void {
  if (!SKILL_NAME.test(name))
    throw new SkillFault(
      `its name ${JSON.stringify(name.slice(0, 80))} is not one: 1 to 64 of a-z and 0-9, with single hyphens between them`,
    );
  const folder = nameOfUri(skillFolderOf(uri) ?? '');
  if (folder !== name) throw new SkillFault(`its name is "${name}", and its folder is called "${folder ?? ''}"`);
}

/** @throws SkillTooLarge for more than `MAX_SKILL_FILES` files */
export function assertFileCount(files: number): void {
  if (files > MAX_SKILL_FILES)
    throw new SkillTooLarge(`it has ${files} files, and a skill has at most ${MAX_SKILL_FILES}`);
}

/** @throws SkillTooLarge for more than `MAX_SKILL_FILES` files or `MAX_SKILL_BYTES` bytes */
export function assertSkillFits(files: readonly { readonly size?: number | undefined }[]): void {
  assertFileCount(files.length);
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
  if (bytes > MAX_SKILL_BYTES)
    throw new SkillTooLarge(
      `its files have ${bytes} bytes together, and those of a skill have at most ${MAX_SKILL_BYTES}`,
    );
}

/**
 * Checks an entry that another server sent and whose shape is right.
 * @throws SkillFault for the first rule that it breaks
 */
export function assertSkillEntry({ uri, frontmatter, resources }: Skill): void {
  const folder = skillFolderOf(uri);
  if (folder === undefined) throw new SkillFault(`its URI does not end with /${SKILL_FILE}`);
  if (hasDotSegments(uri)) throw new SkillFault('its URI has a dot segment');
  assertSkillName(uri, frontmatter.name);
  if (resources !== DYNAMIC) assertManifest(uri, `${folder}/`, resources);
}

function assertManifest(uri: string, within: string, resources: readonly SkillResource[]): void {
  assertSkillFits(resources);
  const uris = resources.map((each) => each.uri);
  if (new Set(uris.map(decodedText)).size < uris.length) throw new SkillFault('its manifest has a file twice');
  if (!uris.includes(uri)) throw new SkillFault(`its manifest has no ${SKILL_FILE}`);
  const stray = uris.find((each) => !each.startsWith(within) || hasDotSegments(each));
  if (stray !== undefined)
    throw new SkillFault(`its manifest has a file that is not in its folder: ${JSON.stringify(stray.slice(0, 200))}`);
}
