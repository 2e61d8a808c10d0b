/**
 * Shows skills to one principal: a skill is hidden unless its `SKILL.md` may be both read and listed, and its manifest
 * lists only the files that the principal may see.
 */
import type { Context } from '../../core/context.ts';
import type { ProviderOverrides } from '../../core/layer.ts';
import { fillPage } from '../../core/lists/filtered-list.ts';
import type { Operations, ServedSkill } from '../../core/operations.ts';
import { noSuchSkill } from '../../core/skill.ts';
import { withoutUnseenMounts } from './unseen-mounts.ts';
import type { Views } from './views.ts';

export function guardedSkills(inner: Operations, views: Views): Pick<ProviderOverrides, 'listSkills' | 'getSkill'> {
  const { policy, decisions, about, may, named } = views;
  // An override of an optional operation counts only where `inner` has the operation.
  const has = inner as Required<Operations>;

  /** A digest reveals the content of a file, and its URI reveals that it exists. */
  async function isOpen(uri: string, { files }: ServedSkill, ctx: Context): Promise<boolean> {
    const resource = files.get(uri);
    const allowed = (operation: 'read' | 'list') =>
      resource === undefined ? may(operation, uri, ctx) : decisions.allows(about(operation, resource), ctx);
    return (await allowed('read')) && (await allowed('list'));
  }

  /** A URI with `..` segments is allowed only where another server lists exactly this URI. */
  const allowsNamed = (uri: string, ctx: Context): Promise<boolean> =>
    Promise.resolve(named(uri, ctx)).then(
      () => true,
      () => false,
    );

  async function shown(served: ServedSkill, ctx: Context): Promise<ServedSkill | undefined> {
    if (policy.everything?.(ctx.principal) === true) return served;
    const { skill } = served;
    if (!(await isOpen(skill.uri, served, ctx))) return undefined;
    if (skill.resources === 'dynamic') return served;
    const open = await Promise.all(skill.resources.map(({ uri }) => isOpen(uri, served, ctx)));
    if (!open.includes(false)) return served;
    return { ...served, skill: { ...skill, resources: skill.resources.filter((_, index) => open[index]) } };
  }

  return {
    listSkills(page, ctx) {
      if (policy.everything?.(ctx.principal) === true) return has.listSkills(page, ctx);
      const seen = withoutUnseenMounts(policy, ctx);
      return fillPage(
        (wanted, quietly) => has.listSkills(wanted, quietly ? { ...ctx, notes: undefined } : seen),
        page,
        (served) => shown(served, ctx),
        ctx,
      );
    },

    async getSkill(uri, ctx) {
      // A forbidden request does not reach a mounted server.
      const mayBe = (await allowsNamed(uri, ctx)) && (await may('read', uri, ctx));
      if (!mayBe && policy.everything?.(ctx.principal) !== true) throw noSuchSkill(uri);
      const found = await has.getSkill(uri, ctx);
      const visible = await shown(found, ctx);
      if (visible === undefined) throw noSuchSkill(uri);
      return visible;
    },
  };
}
