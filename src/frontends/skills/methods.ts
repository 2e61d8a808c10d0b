/** `skills/list` and `skills/get` (SEP-2640). */
import type { z } from 'zod';
import type { Context } from '../../core/context.ts';
import type { NamedOperations, ServedSkill } from '../../core/operations.ts';
import {
  type GetSkillResult,
  type getSkillParams,
  LIST_SKILLS_METHOD,
  type ListSkillsResult,
  type listSkillsParams,
} from '../../protocol/skills.ts';
import { answering } from '../resources/answer.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';

/** A page ends once its skills have this many files together. A skill is never split, and a page has at least one. */
const MAX_PAGE_FILES = 5_000;

/** Skills per request to the provider: their numbers of files are unknown beforehand. */
const STEP = 10;

type Operations = Pick<NamedOperations, 'listSkills' | 'getSkill'>;

export function listSkills(
  operations: Operations,
  options: ResourceOptions,
  params: z.infer<typeof listSkillsParams>,
  ctx: Context,
): Promise<ListSkillsResult> {
  const scope = scopeOf(ctx, LIST_SKILLS_METHOD);
  const { pageSize } = options.limits;
  return answering(options, ctx, async (noted) => {
    let cursor = openCursor(options, params.cursor, scope);
    const served: ServedSkill[] = [];
    let files = 0;
    do {
      const page = await operations.listSkills({ cursor, limit: Math.min(STEP, pageSize - served.length) }, noted);
      served.push(...page.items);
      files += page.items.reduce((sum, { skill }) => sum + skill.resources.length, 0);
      cursor = page.nextCursor;
    } while (cursor !== undefined && served.length < pageSize && files < MAX_PAGE_FILES);
    return { skills: served.map(({ skill }) => skill), ...nextCursor(options, cursor, scope) };
  });
}

/** @throws ResourceError `invalid` where no skill is served */
export function getSkill(
  operations: Operations,
  options: ResourceOptions,
  { uri }: z.infer<typeof getSkillParams>,
  ctx: Context,
): Promise<GetSkillResult> {
  return answering(options, ctx, async (noted) => ({ skill: (await operations.getSkill(uri, noted)).skill }));
}
