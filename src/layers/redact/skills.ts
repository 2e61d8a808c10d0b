/**
 * Skills of mounted servers, whose digests are of what those servers give. Where a file is looked through for secrets, what a client
 * reads may be something else, so nobody is promised a digest. Skills that are found here have digests of what is read through this layer.
 */

import type { Context } from '../../core/context.ts';
import type { ProviderOverrides } from '../../core/layer.ts';
import type { Operations, ServedSkill } from '../../core/operations.ts';
import { noSuchSkill } from '../../core/skill.ts';
import { DYNAMIC } from '../../protocol/skills.ts';
import { CALLED_BY, shownEach } from './labels.ts';
import type { NamedOptions } from './named.ts';

export function redactedSkills(
  inner: Operations,
  options: NamedOptions,
): Pick<ProviderOverrides, 'listSkills' | 'getSkill'> {
  // Of the optional ones, those that are not there are not put in.
  const has = inner as Required<Operations>;

  /** Without those that have a secret in their URI. */
  async function shown(all: readonly ServedSkill[], ctx: Context): Promise<readonly ServedSkill[]> {
    const concerned = all.filter(isConcerned);
    const bare = concerned.map(
      ({ skill: { uri, frontmatter } }) => ({ uri, frontmatter, resources: DYNAMIC }) as const,
    );
    const skills = (await shownEach(bare, CALLED_BY.resource, options, ctx)).values();
    return all.flatMap((served) => {
      if (!isConcerned(served)) return [served];
      const skill = skills.next().value;
      return skill === undefined ? [] : [{ ...served, skill }];
    });
  }

  const isConcerned = ({ skill: { uri, resources } }: ServedSkill): boolean =>
    options.concerns(uri) || (resources !== DYNAMIC && resources.some((each) => options.concerns(each.uri)));

  return {
    async listSkills(page, ctx) {
      const { items, ...rest } = await has.listSkills(page, ctx);
      return { ...rest, items: await shown(items, ctx) };
    },
    async getSkill(uri, ctx) {
      const [skill] = await shown([await has.getSkill(uri, ctx)], ctx);
      if (skill === undefined) throw noSuchSkill(uri);
      return skill;
    },
  };
}
