/** Finds the skills that words on a command line name: by the URI, the name, or the end of the path. */
import type { SkillListing } from '../../../client/skills/list.ts';
import { getSkill, listSkills } from '../../../client/skills/list.ts';
import type { Secrets } from '../../../config/secrets.ts';
import { SKILL_FILE, type Skill } from '../../../protocol/skills.ts';
import { CommandFailure } from '../../errors.ts';
import { EXIT_INCOMPLETE, EXIT_NOT_FOUND, EXIT_OK, EXIT_UNSUPPORTED, EXIT_USAGE } from '../exit-codes.ts';
import { safe } from '../printing/output.ts';
import { onServer, type ServerFlags, type Session } from '../reaching/connect.ts';
import { tellList } from '../stops.ts';

/** Does the work of a command with a server that declares skills. @throws CommandFailure for any other server */
export const onSkills = (
  server: string,
  flags: ServerFlags,
  secrets: Secrets,
  work: (session: Session) => Promise<number>,
): Promise<void> =>
  onServer(server, flags, secrets, async (session) => {
    if (session.facts.skills) return work(session);
    const message = 'The server does not declare skills, so it is not asked for them; vitrine ls lists its resources';
    throw new CommandFailure(`${session.label}: ${message}`, EXIT_UNSUPPORTED);
  });

/** Reports the skills that were left out of a list. @returns the exit status */
export function tellSkills(
  { report, refused }: SkillListing,
  { output }: Session,
  wanted: ReadonlySet<string>,
): number {
  for (const { uri, reason } of refused) output.note(`${uri || 'an entry'} is left out: ${reason}`);
  const more = report.dropped - refused.length;
  if (more > 0) output.note(`${more} more are left out`);
  const status = tellList({ ...report, dropped: 0 }, output, wanted);
  return report.dropped > 0 ? EXIT_INCOMPLETE : status;
}

/** Returns the skill that a word names. @throws CommandFailure if no skill or several skills have that name */
export async function skillNamed(word: string, session: Session): Promise<Skill> {
  const { resources, label, signal } = session;
  if (/^[a-z][a-z0-9+.-]*:/i.test(word)) {
    const uri = word.endsWith(`/${SKILL_FILE}`) ? word : `${word.replace(/\/+$/, '')}/${SKILL_FILE}`;
    return getSkill(resources, uri, { signal });
  }
  const listing = listSkills(resources, { signal });
  const found: Skill[] = [];
  for await (const skill of listing) if (isNamed(skill, word)) found.push(skill);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const many = found.slice(0, MAX_NAMED).map(({ uri }) => safe(uri));
  if (only !== undefined) {
    throw new CommandFailure(`${label}: "${safe(word)}" may be ${many.join(', ')}; say which one`, EXIT_USAGE);
  }
  const cut = tellSkills(listing, session, new Set()) !== EXIT_OK;
  const message = `${label}: No skill "${safe(word)}" is listed; one that is not listed is named by its URI`;
  throw new CommandFailure(message, cut ? EXIT_INCOMPLETE : EXIT_NOT_FOUND);
}

/** The most skills of one name that a message lists. */
const MAX_NAMED = 10;

/** Tells whether the path of a skill ends in the name or names that were typed. */
const isNamed = ({ uri }: Skill, word: string): boolean =>
  uri.replace(/^[^:]*:\/*/, '/').endsWith(`/${word.replace(/\/+$/, '')}/${SKILL_FILE}`);
