/** Lists the skills of a server (SEP-2640) by their entries, without reading any file of a skill. */
import { GET_SKILL_METHOD, LIST_SKILLS_METHOD, SKILLS_EXTENSION, type Skill } from '../../protocol/skills.ts';
import { type Asking, askingOf, type CallOptions } from '../asking.ts';
import type { ResourceClient } from '../client.ts';
import { clientError, invalidAnswer, ResourceClientError } from '../errors.ts';
import { type ListOptions, type ListReport, newReport, oneByOne, pagesFor } from '../paging.ts';
import { skillIn } from './entry.ts';

/** An entry that breaks a rule, and so is left out of the list. */
export interface RefusedSkill {
  /** The URI that the server sent; empty if it sent none. */
  readonly uri: string;
  readonly reason: string;
}

/** Gives the skills one by one, and asks for each page when it is needed. Can be iterated over once. */
export interface SkillListing extends AsyncIterable<Skill> {
  /** The progress of the list. `resources` counts skills, `dropped` entries that were left out. */
  readonly report: ListReport;
  /** The first `MAX_REFUSED` entries that were left out so far, and why. */
  readonly refused: readonly RefusedSkill[];
}

/** The most entries that are named in `refused`. */
const MAX_REFUSED = 100;
/** The most entries that are left out. After one more, listing fails. */
const MAX_DROPPED = 10_000;

/**
 * Lists the skills of a server. It may have more that it does not list: `getSkill` gets those by their URI.
 * @throws ResourceClientError (while iterating) `unsupported` for a server without skills, `invalid-answer` for a server that
 *   lists more than 10,000 entries that are no skills, and the errors of a request
 */
export function listSkills(client: ResourceClient, options: ListOptions = {}): SkillListing {
  const report = newReport();
  const refused: RefusedSkill[] = [];
  const asking = askingOf(client);
  let dropped = 0;

  function entryIn(value: unknown): Skill | undefined {
    try {
      return skillIn(value);
    } catch (error) {
      // Checking takes time, so there is a limit.
      if (++dropped > MAX_DROPPED)
        throw invalidAnswer(`The server lists more than ${MAX_DROPPED} entries that are no skills`);
      const { uri = '', message } = clientError(error);
      if (refused.length < MAX_REFUSED) refused.push({ uri, reason: message });
      return undefined;
    }
  }

  async function* batches(): AsyncGenerator<readonly Skill[], void, undefined> {
    await assertSkills(asking, options);
    const list = { field: 'skills', entryIn, idOf: ({ uri }: Skill) => uri };
    const pages = pagesFor(asking, { method: LIST_SKILLS_METHOD, uri: undefined }, list, options, report);
    for await (const { entries } of pages) yield entries;
  }

  const skills = oneByOne(batches());
  return { [Symbol.asyncIterator]: () => skills, report, refused };
}

/**
 * Gets the entry of one skill, which need not be listed.
 * @param uri the URI of its `SKILL.md`
 * @throws ResourceClientError `unsupported` for a server without skills, `not-found`, `invalid-answer`, `too-large`
 */
export async function getSkill(client: ResourceClient, uri: string, options: CallOptions = {}): Promise<Skill> {
  const asking = askingOf(client);
  await assertSkills(asking, options);
  const question = { method: GET_SKILL_METHOD, uri, part: '' };
  const skill = skillIn((await asking.ask(question, { uri }, options)).value.skill);
  if (skill.uri !== uri) throw invalidAnswer(`The server sent the entry of another skill, ${skill.uri}`, uri);
  return skill;
}

async function assertSkills({ connection }: Asking, { signal }: CallOptions): Promise<void> {
  const { facts } = await connection.get(signal);
  if (facts.skills) return;
  throw new ResourceClientError('unsupported', `The server does not declare skills (${SKILLS_EXTENSION})`);
}
