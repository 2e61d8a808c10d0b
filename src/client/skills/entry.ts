/** Checks the entry of a skill from a server by the rules of SEP-2640, because the server may be hostile. */
import { ResourceError } from '../../core/errors.ts';
import { assertFileCount, assertSkillEntry, SkillFault, SkillTooLarge, skillFolderOf } from '../../core/skill-entry.ts';
import { decodeSegment, splitUri } from '../../core/uri.ts';
import { DYNAMIC, type Skill, skillSchema } from '../../protocol/skills.ts';
import { invalidAnswer, ResourceClientError } from '../errors.ts';
import type { Data } from '../link.ts';

/** Returns the URI of a skill's folder, without a slash at its end. */
export const skillRoot = ({ uri }: Pick<Skill, 'uri'>): string => skillFolderOf(uri) ?? uri;

/**
 * Returns the segments of a file's path below the skill's folder. @throws ResourceClientError `invalid-answer` for a file outside
 */
export function pathIn(skill: Pick<Skill, 'uri'>, uri: string): readonly string[] {
  const begin = `${skillRoot(skill)}/`;
  try {
    const { query, fragment } = splitUri(uri);
    if (!uri.startsWith(begin) || query !== undefined || fragment !== undefined) {
      throw invalidAnswer('The file is not in the folder of the skill', uri);
    }
    return uri
      .slice(begin.length)
      .split('/')
      .map((segment) => decodeSegment(segment, uri));
  } catch (error) {
    throw error instanceof ResourceError ? invalidAnswer(error.message, uri) : error;
  }
}

/**
 * Checks an entry by all rules of SEP-2640: it names a skill by its folder, and lists each file of that folder once.
 * @throws ResourceClientError `invalid-answer`; `too-large` for a skill over `MAX_SKILL_FILES` or `MAX_SKILL_BYTES`
 */
export function skillIn(value: unknown): Skill {
  const { uri, resources } = (value ?? {}) as Data;
  const about = typeof uri === 'string' ? uri : undefined;
  // Counts the files before any code walks them.
  if (Array.isArray(resources)) refusing(about, () => assertFileCount(resources.length));
  const { success, error } = skillSchema.safeParse(value);
  if (!success) {
    const [issue] = error.issues;
    const where = issue?.path.map(String).join('.') || 'skill';
    throw invalidAnswer(`The entry of the skill is wrong at ${where}: ${issue?.message}`, about);
  }
  const skill = value as Skill;
  refusing(skill.uri, () => assertSkillEntry(skill));
  for (const { uri: file } of skill.resources === DYNAMIC ? [skill] : skill.resources) pathIn(skill, file);
  return skill;
}

/** Runs a check. @throws ResourceClientError `invalid-answer` or `too-large` for a `SkillFault` */
function refusing(uri: string | undefined, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof SkillFault)) throw error;
    const code = error instanceof SkillTooLarge ? 'too-large' : 'invalid-answer';
    throw new ResourceClientError(code, `The entry of the skill breaks a rule: ${error.message}`, { uri });
  }
}
