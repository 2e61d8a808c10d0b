/**
 * Removes digests from skills of mounted servers. These digests are of the servers' own contents. If a file is scanned for
 * secrets, a client may read another content, to which the digest does not apply. Skills that Vitrine finds itself have digests
 * of the contents after this layer.
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
  // An override of an optional operation counts only if `inner` has the operation.
  const has = inner as Required<Operations>;

  /** Returns the skills with their secrets covered. A skill with a secret in its URI is left out. */
  async function shown(all: readonly ServedSkill[], ctx: Context): Promise<readonly ServedSkill[]> {
    const withoutDigests = all
      .filter(isScanned)
      .map(({ skill: { uri, frontmatter } }) => ({ uri, frontmatter, resources: DYNAMIC }) as const);
    const skills = (await shownEach(withoutDigests, CALLED_BY.resource, options, ctx)).values();
    return all.flatMap((served) => {
      if (!isScanned(served)) return [served];
      const skill = skills.next().value;
      return skill === undefined ? [] : [{ ...served, skill }];
    });
  }

  const isScanned = ({ skill: { uri, resources } }: ServedSkill): boolean =>
    options.concerns(uri) || (resources !== DYNAMIC && resources.some((file) => options.concerns(file.uri)));

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
