/**
 * Handles skills of mounted servers, whose digests are of the servers' own contents. Where a file is scanned for secrets, a
 * client may read other contents, so its digest is removed. Skills that Vitrine finds itself have digests of contents after this
 * layer.
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
  // Optional operations are added only where the inner provider has them.
  const has = inner as Required<Operations>;

  /** Returns the skills without a secret in their URI. */
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
