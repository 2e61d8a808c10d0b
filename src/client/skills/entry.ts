/** The entry of a skill as a server sends it: taken only if it holds to the rules of SEP-2640, for its sender may be hostile. */
import { ResourceError } from '../../core/errors.ts';
import { decodeSegment, splitUri } from '../../core/uri.ts';
import {
  DYNAMIC,
  MAX_SKILL_BYTES,
  MAX_SKILL_FILES,
  SKILL_FILE,
  SKILL_NAME,
  type Skill,
  type SkillResource,
  skillSchema,
} from '../../protocol/skills.ts';
import { invalidAnswer, ResourceClientError } from '../errors.ts';
import type { Data } from '../link.ts';

const ENDING = `/${SKILL_FILE}`;

/** Returns the URI of a skill's folder, without a slash at its end. */
export const skillRoot = ({ uri }: Pick<Skill, 'uri'>): string => uri.slice(0, -ENDING.length);

/** The names from the folder of a skill to one of its files. @throws ResourceClientError `invalid-answer` for what is no file in it */
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
 * Takes an entry that holds to all rules of SEP-2640: it names a skill by its folder, and lists each file of that folder once.
 * @throws ResourceClientError `invalid-answer`; `too-large` for a skill over `MAX_SKILL_FILES` or `MAX_SKILL_BYTES`
 */
export function skillIn(value: unknown): Skill {
  const { uri, resources } = (value ?? {}) as Data;
  const about = typeof uri === 'string' ? uri : undefined;
  // Counted before they are looked at.
  if (Array.isArray(resources) && resources.length > MAX_SKILL_FILES) {
    throw tooLarge(`The skill has ${resources.length} files; up to ${MAX_SKILL_FILES} are taken`, about);
  }
  const { success, error } = skillSchema.safeParse(value);
  if (!success) {
    const [issue] = error.issues;
    const where = issue?.path.map(String).join('.') || 'skill';
    throw invalidAnswer(`The entry of the skill is wrong at ${where}: ${issue?.message}`, about);
  }
  const skill = value as Skill;
  checkName(skill);
  if (skill.resources !== DYNAMIC) checkFiles(skill, skill.resources);
  return skill;
}

function checkName(skill: Skill): void {
  const { uri, frontmatter } = skill;
  const refused = (why: string): ResourceClientError => invalidAnswer(why, uri);
  if (!uri.endsWith(ENDING)) throw refused(`The URI of a skill ends in ${ENDING}`);
  const folder = skillRoot(skill);
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  if (!SKILL_NAME.test(name)) {
    throw refused(
      'The folder of a skill has a name of up to 64 characters: a to z, 0 to 9, and single hyphens between',
    );
  }
  if (frontmatter.name !== name) {
    throw refused(`The folder is called "${name}", and the skill "${frontmatter.name}"`);
  }
  pathIn(skill, uri);
  if (DOTS.test(folder)) throw refused('The URI of the skill has a dot segment');
}

/** A segment that a URI must not have once it is resolved, in every spelling. */
const DOTS = /\/(?:\.|%2e){1,2}(?=\/|$)/i;

function checkFiles(skill: Skill, files: readonly SkillResource[]): void {
  const seen = new Set<string>();
  let bytes = 0;
  for (const { uri, size } of files) {
    const path = pathIn(skill, uri).join('/');
    if (seen.has(path)) throw invalidAnswer('The entry of the skill lists a file twice', uri);
    seen.add(path);
    bytes += size;
  }
  if (!files.some(({ uri }) => uri === skill.uri)) {
    throw invalidAnswer(`The entry of the skill does not list its ${SKILL_FILE}`, skill.uri);
  }
  if (bytes > MAX_SKILL_BYTES) {
    throw tooLarge(`The skill has ${bytes} bytes; up to ${MAX_SKILL_BYTES} are taken`, skill.uri);
  }
}

const tooLarge = (message: string, uri: string | undefined): ResourceClientError =>
  new ResourceClientError('too-large', message, { uri });
