/** `vitrine skills ls`. No file of a skill is read for it. */
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

/** Skills of a list, unless told otherwise. */
const DEFAULT_MAX_SKILLS = 10_000;

export const skillsLs = (server: string, flags: SkillsLsFlags, secrets: Secrets): Promise<void> =>
  onSkills(server, flags, secrets, async (session) => {
    const { resources, output, signal } = session;
    const maxResources = countOf(flags.maxResources, '--max-resources', DEFAULT_MAX_SKILLS);
    const listing = listSkills(resources, { signal, maxResources });
    await output.list(listing, (skill) => skillRow(skill, output));
    if (listing.report.resources === 0) output.note('No skills are listed; one may be there all the same, by its URI');
    return tellSkills(listing, session, wantedLimits(flags));
  });
