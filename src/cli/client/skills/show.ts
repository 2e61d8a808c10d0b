/** `vitrine skills show`: prints a skill for review. */
import { skillText } from '../../../client/skills/frontmatter.ts';
import { readSkillFile } from '../../../client/skills/read.ts';
import type { Secrets } from '../../../config/secrets.ts';
import { DYNAMIC, type Skill } from '../../../protocol/skills.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { jsonText, type Output, safe, safeLines } from '../printing/output.ts';
import type { ServerFlags } from '../reaching/connect.ts';
import { onSkills, skillNamed } from './named.ts';
import { bytesOf, filesText } from './rows.ts';

/** Prints one skill, after its `SKILL.md` was compared with the entry. */
export const skillsShow = (server: string, word: string, flags: ServerFlags, secrets: Secrets): Promise<void> =>
  onSkills(server, flags, secrets, async (session) => {
    const { resources, output, signal } = session;
    const skill = await skillNamed(word, session);
    const { text = '', verified } = await readSkillFile(resources, skill, skill.uri, { signal });
    const { body } = await skillText(text, skill.uri);
    await output.document({ ...skill, verified, text }, () => whole(skill, body, output));
    return EXIT_OK;
  });

function whole({ uri, frontmatter, resources }: Skill, body: string, output: Output): string {
  const fields = Object.entries(frontmatter)
    .filter(([field]) => field !== 'name')
    .map(([field, value]) => {
      const text = typeof value === 'string' ? safeLines(value).trimEnd() : jsonText(value);
      return `${output.paint('dim', `${safe(field)}:`)} ${text}`;
    });
  const files =
    resources === DYNAMIC
      ? 'Its files cannot be verified: the server generates them (dynamic)'
      : filesText(resources.length, bytesOf(resources));
  return [
    `${output.paint('bold', frontmatter.name)}  ${safe(uri)}`,
    ...fields,
    output.paint('dim', files),
    '',
    safeLines(body).trim(),
  ].join('\n');
}
