/** `vitrine skills ls`: lists skills, and reads none of their files. */
import { listSkills } from '../../../client/skills/list.ts';
import type { Secrets } from '../../../config/secrets.ts';
import { wantedLimits } from '../ls.ts';
import { countOf } from '../printing/numbers.ts';
import type { ServerFlags } from '../reaching/connect.ts';
import { onSkills, tellSkills } from './named.ts';
import { skillRow } from './rows.ts';

export interface SkillsLsFlags extends ServerFlags {
  readonly maxResources?: string;
}

/** The most skills of a list, unless `--max-resources` is given. */
const DEFAULT_MAX_SKILLS = 10_000;

export const skillsLs = (server: string, flags: SkillsLsFlags, secrets: Secrets): Promise<void> =>
  onSkills(server, flags, secrets, async (session) => {
    const { resources, output, signal } = session;
    const maxResources = countOf(flags.maxResources, '--max-resources', DEFAULT_MAX_SKILLS);
    const listing = listSkills(resources, { signal, maxResources });
    await output.list(listing, (skill) => skillRow(skill, output));
    if (listing.report.resources === 0)
      output.note('No skills are listed; a skill that is not listed can be named by its URI');
    return tellSkills(listing, session, wantedLimits(flags));
  });
