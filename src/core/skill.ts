/** The rules of one skill (SEP-2640, Agent Skills): where its folder is, and what its `SKILL.md` has to say. */
import { SKILL_FILE, SKILL_NAME, type SkillFrontmatter } from '../protocol/skills.ts';
import { ResourceError } from './errors.ts';
import { LineFault, parseHead, splitFrontMatter } from './front-matter.ts';
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
  return { ...value, name, description };
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
