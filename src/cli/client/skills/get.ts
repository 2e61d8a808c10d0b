/** `vitrine skills get`: writes skills as folders. */
import { type WrittenSkill, writeSkill } from '../../../client/node/index.ts';
import type { Secrets } from '../../../config/secrets.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { failureOf, messageOf, statusOf } from '../failures.ts';
import { safe } from '../printing/output.ts';
import type { ServerFlags, Session } from '../reaching/connect.ts';
import { onSkills, skillNamed } from './named.ts';
import { bytesOf, filesText } from './rows.ts';

export interface SkillsGetFlags extends ServerFlags {
  readonly to: string;
  readonly force?: boolean;
  readonly keepName?: readonly string[];
}

export const skillsGet = (
  server: string,
  words: readonly string[],
  flags: SkillsGetFlags,
  secrets: Secrets,
): Promise<void> =>
  onSkills(server, flags, secrets, async (session) => {
    const { output, signal } = session;
    let status: number = EXIT_OK;
    const each = async function* (): AsyncGenerator<WrittenSkill & { readonly uri: string }> {
      for (const word of words) {
        try {
          yield await written(word, flags, session);
        } catch (error) {
          signal.throwIfAborted();
          if (words.length === 1) throw error;
          // The other skills are written all the same.
          const failure = failureOf(error, session.label);
          output.note(messageOf(failure));
          status = Math.max(status, statusOf(failure));
        }
      }
    };
    await output.list(each(), ({ folder, files, verified }) => {
      const unsure = verified ? '' : ', not verified: the skill is dynamic';
      return `${filesText(files.length, bytesOf(files))}${unsure}: ${safe(folder)}`;
    });
    return status;
  });

async function written(word: string, { to, force, keepName }: SkillsGetFlags, session: Session) {
  const { resources, output, signal } = session;
  const skill = await skillNamed(word, session);
  const result = await writeSkill(resources, skill, to, { force, keepNames: keepName, signal });
  for (const { uri, path } of result.files.filter(({ renamed }) => renamed))
    output.note(`${uri} is written as ${path}`);
  return { uri: skill.uri, ...result };
}
