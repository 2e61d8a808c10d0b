/** Checks of skills (SEP-2640): their entries in the list, and whether their files agree with the entries. */

import { decodeBase64 } from '../../../../client/base64.ts';
import { skillIn, skillRoot } from '../../../../client/skills/entry.ts';
import { checkSkillFile } from '../../../../client/skills/read.ts';
import { type Data, isData } from '../../../../protocol/data.ts';
import { INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND } from '../../../../protocol/error-codes.ts';
import { DIRECTORY_READ_METHOD } from '../../../../protocol/methods.ts';
import { DYNAMIC, GET_SKILL_METHOD, SKILL_FILE, type Skill, type SkillResource } from '../../../../protocol/skills.ts';
import { type Check, type CheckContext, type Finding, notApplicable, ok, problem, problems } from '../check.ts';
import { nameOf, repeatedIn, skillsIn, spread } from '../examined.ts';
import { type Answer, answerText, type Era } from '../wire.ts';

const group = 'Skills';
const NONE = 'Skills are not declared';

/** Says why a check of skills that follow the rules has nothing to check. */
const noSkills = (entries: readonly unknown[]): Finding =>
  notApplicable(entries.length === 0 ? 'No skills are listed' : 'None of the listed skills follows the rules');

/** Runs a check on the listed skills. The check does not apply to a server that declares none. */
const ofSkills =
  (run: (ctx: CheckContext, entries: readonly unknown[]) => Promise<Finding>): Check['run'] =>
  async (ctx) => {
    const { declared, entries } = await ctx.examined.list('skills');
    return declared ? run(ctx, entries) : notApplicable(NONE);
  };

/** Returns a sample of the listed skills that follow the rules. */
const sampleOf = ({ limits }: CheckContext, entries: readonly unknown[]): readonly Skill[] =>
  spread(
    entries.filter((entry) => ruleBroken(entry) === undefined),
    limits.sample,
  ) as readonly Skill[];

/** Names the rule that an entry breaks; undefined if it breaks none. */
function ruleBroken(entry: unknown): string | undefined {
  try {
    skillIn(entry);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export const SKILL_CHECKS: readonly Check[] = [
  {
    id: 'skills-declared',
    group,
    title: 'Skills are declared as an object, beside resources',
    clause: 'SEP-2640, Capability Negotiation',
    level: 'error',
    async run({ capabilities }) {
      const declared = skillsIn(capabilities);
      if (declared === undefined) return notApplicable(NONE);
      const { directoryRead } = isData(declared) ? declared : {};
      return problems(
        [
          ...(isData(declared) ? [] : ['The declaration is no object']),
          ...(directoryRead === undefined || typeof directoryRead === 'boolean' ? [] : ['directoryRead is no boolean']),
          ...(isData(capabilities.resources) ? [] : ['The capability resources is not declared']),
        ],
        'Declare {} or { directoryRead: true }, and resources: {}: files of skills are read as resources.',
      );
    },
  },
  {
    id: 'skill-entries',
    group,
    title: 'Entries of skills follow the rules',
    clause: 'SEP-2640, Skill Entries, Limits',
    level: 'error',
    run: ofSkills(async (_ctx, entries) => {
      if (entries.length === 0) return noSkills(entries);
      const seen = entries.flatMap((entry) => {
        const why = ruleBroken(entry);
        return why === undefined ? [] : [`${nameOf(isData(entry) ? entry.uri : entry)}: ${why}`];
      });
      return problems(
        seen,
        `List every file below the folder of ${SKILL_FILE} once, with sha256 and size, and give the folder the skill's name.`,
      );
    }),
  },
  {
    id: 'skill-names',
    group,
    title: 'No two skills have the same name',
    clause: 'SEP-2640, Names',
    level: 'warning',
    run: ofSkills(async (_ctx, entries) => {
      const names = entries.flatMap((entry) =>
        isData(entry) && isData(entry.frontmatter) ? [entry.frontmatter.name] : [],
      );
      const repeated = new Set(repeatedIn(names));
      return problems(
        [...repeated].map(nameOf),
        'Give each skill a name of its own: people and models call it by its name.',
      );
    }),
  },
  {
    id: 'skill-get',
    group,
    title: 'skills/get gives the entry that skills/list has',
    clause: 'SEP-2640, Getting a Skill',
    level: 'error',
    run: ofSkills(async (ctx, entries) => {
      const skills = sampleOf(ctx, entries);
      if (skills.length === 0) return noSkills(entries);
      const seen: string[] = [];
      for (const skill of skills) {
        const answer = await ctx.wire.ask(GET_SKILL_METHOD, { uri: skill.uri });
        const why = entryProblem(answer, skill, ctx);
        if (why !== undefined) seen.push(`${skill.uri}: ${why}`);
      }
      return problems(seen, 'Answer { skill } with the entry that skills/list has, and without a cursor.');
    }),
  },
  {
    id: 'skill-unknown',
    group,
    title: 'An unknown skill is refused with -32602',
    clause: 'SEP-2640, Error Handling',
    level: 'error',
    run: ofSkills(async ({ wire }) => {
      const uri = `skill://vitrine-doctor/no-such-skill/${SKILL_FILE}`;
      return refused(await wire.ask(GET_SKILL_METHOD, { uri }), 'a skill', wire.era);
    }),
  },
  {
    id: 'skill-files',
    group,
    title: 'Files of skills have the size, digest and frontmatter of their entries',
    clause: 'SEP-2640, Integrity and Verification',
    level: 'error',
    run: ofSkills(async (ctx, entries) => {
      const skills = sampleOf(ctx, entries);
      if (skills.length === 0) return noSkills(entries);
      const files = filesOf(skills, ctx.limits.sample);
      if (files.length === 0) return notApplicable('No files of skills are listed');
      const seen: string[] = [];
      for (const { skill, file } of files) {
        const why = await fileProblem(await ctx.wire.ask('resources/read', { uri: file.uri }), skill, file);
        if (why !== undefined) seen.push(`${file.uri}: ${why}`);
      }
      if (seen.length > 0)
        return problems(
          seen,
          'Take size and digest from the bytes that a read gives, and the frontmatter from SKILL.md.',
        );
      return ok(`${files.length} were read`);
    }),
  },
  {
    id: 'skill-directories',
    group,
    title: 'Folders of skills can be listed if that is declared, and nothing else can',
    clause: 'SEP-2640, Reading Directories',
    level: 'error',
    run: ofSkills(async (ctx, entries) => {
      const declared = skillsIn(ctx.capabilities);
      if (!isData(declared) || declared.directoryRead !== true) return notApplicable('directoryRead is not declared');
      const seen: string[] = [];
      for (const skill of sampleOf(ctx, entries)) {
        const answer = await ctx.wire.ask(DIRECTORY_READ_METHOD, { uri: skillRoot(skill) });
        const why = folderProblem(answer, skill);
        if (why !== undefined) seen.push(`${skillRoot(skill)}: ${why}`);
      }
      if (seen.length > 0)
        return problems(seen, `Answer { resources } with the children of the folder, ${SKILL_FILE} among them.`);
      const [skill] = sampleOf(ctx, entries);
      const notFolders = ['skill://vitrine-doctor/no-such-folder', ...(skill === undefined ? [] : [skill.uri])];
      for (const uri of notFolders) {
        const finding = refused(await ctx.wire.ask(DIRECTORY_READ_METHOD, { uri }), uri, ctx.era);
        if (finding.status === 'problem') return finding;
      }
      return ok();
    }),
  },
];

/** Checks that an answer is a refusal. In the 2025 era the former code for unknown resources is accepted, too. */
function refused(answer: Answer, what: string, era: Era): Finding {
  const codes = era === 'legacy' ? [INVALID_PARAMS, LEGACY_RESOURCE_NOT_FOUND] : [INVALID_PARAMS];
  if (answer.kind === 'error' && codes.includes(answer.error.code)) return ok();
  return problem(`${what}: ${answerText(answer)}`, 'Answer with the error -32602 (Invalid params).');
}

/** Tells what is wrong with an answer to `skills/get`; undefined if nothing is. */
function entryProblem(answer: Answer, listed: Skill, { era }: CheckContext): string | undefined {
  if (answer.kind !== 'result') return answerText(answer);
  const { skill, nextCursor, ttlMs, cacheScope } = answer.result;
  const broken = ruleBroken(skill);
  if (broken !== undefined) return broken;
  if (partsOf(skill as Skill) !== partsOf(listed)) return 'The entry differs from the one in the list';
  if (nextCursor !== undefined) return 'There is a cursor';
  const hinted = typeof ttlMs === 'number' && typeof cacheScope === 'string';
  return era === 'legacy' || hinted ? undefined : 'ttlMs or cacheScope is not there';
}

/** Returns the parts of an entry that must not depend on the request, with the files sorted. */
function partsOf({ uri, frontmatter, resources }: Skill): string {
  const files = resources === DYNAMIC ? [] : resources.map((file) => `${file.uri} ${file.digest} ${file.size}`).sort();
  return JSON.stringify([uri, frontmatter.name, frontmatter.description, files]);
}

/** Chooses the files that are read: up to `count` files `SKILL.md`, and as many others from all skills. */
function filesOf(
  skills: readonly Skill[],
  count: number,
): readonly { readonly skill: Skill; readonly file: SkillResource }[] {
  const all = skills.flatMap((skill) =>
    skill.resources === DYNAMIC ? [] : skill.resources.map((file) => ({ skill, file })),
  );
  const mainFiles = all.filter(({ skill, file }) => file.uri === skill.uri);
  const others = all.filter(({ skill, file }) => file.uri !== skill.uri);
  return [...mainFiles.slice(0, count), ...spread(others, count)];
}

async function fileProblem(answer: Answer, skill: Skill, file: SkillResource): Promise<string | undefined> {
  if (answer.kind !== 'result') return answerText(answer);
  const { contents } = answer.result;
  const content: unknown = Array.isArray(contents) ? contents[0] : undefined;
  const bytes = isData(content) ? bytesIn(content) : undefined;
  if (bytes === undefined) return 'There are no contents';
  try {
    await checkSkillFile(skill, file, bytes);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const bytesIn = ({ text, blob }: Data): Uint8Array<ArrayBuffer> | undefined =>
  typeof text === 'string' ? new TextEncoder().encode(text) : typeof blob === 'string' ? decodeBase64(blob) : undefined;

function folderProblem(answer: Answer, { uri }: Skill): string | undefined {
  if (answer.kind !== 'result') return answerText(answer);
  const { resources, nextCursor } = answer.result;
  if (!Array.isArray(resources)) return 'resources is no list';
  const isListed = resources.some((child) => isData(child) && child.uri === uri);
  return isListed || nextCursor !== undefined ? undefined : `${SKILL_FILE} is not listed`;
}
