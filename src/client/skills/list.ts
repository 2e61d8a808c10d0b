/** The skills of a server (SEP-2640): listed and named by their entries. No file of a skill is read for it. */
import { GET_SKILL_METHOD, LIST_SKILLS_METHOD, SKILLS_EXTENSION, type Skill } from '../../protocol/skills.ts';
import { type Asking, askingOf, type CallOptions } from '../asking.ts';
import type { ResourceClient } from '../client.ts';
import { clientError, invalidAnswer, ResourceClientError } from '../errors.ts';
import { type ListOptions, type ListReport, newReport, oneByOne, pagesFor } from '../paging.ts';
import { skillIn } from './entry.ts';

/** An entry that breaks a rule, and so is left out of the list. */
export interface RefusedSkill {
  /** As the server sent it; empty where that is no text. */
  readonly uri: string;
  readonly reason: string;
}

/** Skills as they come: each page is asked for when its skills are wanted. Can be gone through once. */
export interface SkillListing extends AsyncIterable<Skill> {
  /** How it went so far. `resources` counts skills, `dropped` entries that were left out. */
  readonly report: ListReport;
  /** The first `MAX_REFUSED` entries that were left out so far, and why. */
  readonly refused: readonly RefusedSkill[];
}

/** Entries of one list that were left out and are named; and those after which the list is given up. */
const MAX_REFUSED = 100;
const MAX_DROPPED = 10_000;

/**
 * Lists the skills of a server. It may have more: some are had by their URI alone.
 * @throws ResourceClientError (when it is gone through) `unsupported` for a server without skills, `invalid-answer` for one
 *   that lists very much that is no skill, and those of a request
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
      // Each takes its time.
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
 * @param uri of its `SKILL.md`
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
