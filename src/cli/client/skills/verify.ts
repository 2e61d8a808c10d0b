/** `vitrine skills verify`: compares the files of skills with their entries. */
import { ResourceClientError } from '../../../client/errors.ts';
import { listSkills } from '../../../client/skills/list.ts';
import { verifySkill } from '../../../client/skills/read.ts';
import type { Secrets } from '../../../config/secrets.ts';
import type { Skill } from '../../../protocol/skills.ts';
import { EXIT_FAILED, EXIT_INCOMPLETE, EXIT_OK } from '../exit-codes.ts';
import { messageOf } from '../failures.ts';
import { type Output, safe } from '../printing/output.ts';
import type { ServerFlags, Session } from '../reaching/connect.ts';
import { onSkills, skillNamed, tellSkills } from './named.ts';
import { filesText } from './rows.ts';

/** The outcome for one skill. */
interface Verified {
  readonly uri: string;
  readonly name: string;
  /** `dynamic`: the skill was read, but its entry gives no digests to compare with. */
  readonly status: 'verified' | 'dynamic' | 'failed';
  readonly files?: number;
  readonly bytes?: number;
  /** The file that differs from its entry, and how. */
  readonly problem?: Readonly<Record<string, unknown>>;
}

/** Prints the outcome for each skill. Exits with `EXIT_FAILED` if a skill failed, else with `EXIT_INCOMPLETE` if some were left out. */
export const skillsVerify = (
  server: string,
  words: readonly string[],
  flags: ServerFlags,
  secrets: Secrets,
): Promise<void> =>
  onSkills(server, flags, secrets, async (session) => {
    const { output, resources, signal } = session;
    const statuses: number[] = [];
    const outcomes = async function* (): AsyncGenerator<Verified> {
      const listing = words.length === 0 ? listSkills(resources, { signal }) : undefined;
      for await (const skill of listing ?? named(words, session)) {
        output.progress(skill.uri);
        const outcome = await outcomeOf(skill, session);
        if (outcome.status === 'failed') statuses.push(EXIT_FAILED);
        yield outcome;
      }
      if (listing !== undefined && tellSkills(listing, session, new Set()) !== EXIT_OK) statuses.push(EXIT_INCOMPLETE);
    };
    await output.list(outcomes(), (outcome) => row(outcome, output));
    return statuses.includes(EXIT_FAILED) ? EXIT_FAILED : Math.max(EXIT_OK, ...statuses);
  });

async function* named(words: readonly string[], session: Session): AsyncGenerator<Skill> {
  for (const word of words) yield await skillNamed(word, session);
}

async function outcomeOf(skill: Skill, { resources, signal }: Session): Promise<Verified> {
  const about = { uri: skill.uri, name: skill.frontmatter.name };
  try {
    const { verified, files, bytes } = await verifySkill(resources, skill, { signal });
    return { ...about, status: verified ? 'verified' : 'dynamic', files, bytes };
  } catch (error) {
    signal.throwIfAborted();
    // If the server is gone, all other skills would fail, too.
    if (!(error instanceof ResourceClientError) || error.code === 'unavailable') throw error;
    const { code, uri = skill.uri, data } = error;
    const { what, expected, got } = data ?? {};
    const facts = code === 'mismatch' ? { what, expected, got } : {};
    return { ...about, status: 'failed', problem: { uri, code, message: messageOf(error), ...facts } };
  }
}

function row({ uri, status, files = 0, bytes = 0, problem }: Verified, output: Output): string {
  const colour = { verified: 'green', dynamic: 'yellow', failed: 'red' } as const;
  const about = problem === undefined ? filesText(files, bytes) : `${problem.uri}: ${problem.message}`;
  return `${output.paint(colour[status], status.padEnd(8))}  ${safe(uri)}  ${safe(about)}`;
}
