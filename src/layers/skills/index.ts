/**
 * The skills layer: folders with a `SKILL.md` are listed as skills, with the digest of every file (SEP-2640). It is outside of all
 * layers that change what is read, so that a digest is of the bytes that a client gets, and inside of access, which decides
 * about each file for each caller.
 */
import { LRUCache } from 'lru-cache';
import { type ListSource, pageAcross } from '../../core/across.ts';
import { type Context, createContext } from '../../core/context.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import type { Resolver } from '../../core/mounts/resolver.ts';
import type { Operations, ServedSkill } from '../../core/operations.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import { type Catalogue, createCatalogue, firstFrom, type LeftOut } from './catalogue.ts';

export type { LeftOut } from './catalogue.ts';

/** Catalogues that are kept: one for each mount and kind of reader. */
const MAX_CATALOGUES = 100;

export interface SkillsOptions {
  readonly resolver: Resolver;
  /** The most that a client gets of a file in one read, in bytes. */
  readonly maxFileBytes: number;
}

export interface Skills {
  readonly layer: Layer;
  /** Whether this is a file of a skill, as far as is known: it is given as it lies there, in no other format. */
  holds(uri: string): boolean;
  /** The skills of a mount that are not served, and why, for whoever runs the server. */
  leftOut(mount: Mount, ctx: Context): Promise<readonly LeftOut[]>;
  close(): void;
}

/** Whether folders of a mount are served as skills. */
export const hasSkills = ({ skills }: Mount): boolean => skills !== undefined && skills !== false;

export function createSkills({ resolver, maxFileBytes }: SkillsOptions): Skills {
  const catalogues = new LRUCache<string, Catalogue>({
    max: MAX_CATALOGUES,
    dispose: (catalogue) => catalogue.close(),
  });
  const ids = new WeakMap<ResourceProvider, string>();
  let within: Operations | undefined;

  function idOf(provider: ResourceProvider): string {
    const id = ids.get(provider) ?? crypto.randomUUID();
    ids.set(provider, id);
    return id;
  }

  /** A mount may show each principal something else, and some each connection, or each set of roots. */
  function catalogueOf(inner: ResourceProvider, mount: Mount, ctx: Context): Catalogue {
    const { features } = mount.provider;
    const { principal, peer, roots, client, log } = ctx;
    const parts = {
      ...(features.apart === true && { peer, client }),
      ...(features.roots === true && { roots }),
    };
    const key = JSON.stringify([idOf(mount.provider), mount.name, principal.id, parts.peer, parts.roots]);
    const known = catalogues.get(key);
    if (known !== undefined) return known;
    const own = createContext({ principal, log, ...parts });
    const made = createCatalogue({ inner, mount, maxFileBytes, ctx: own });
    catalogues.set(key, made);
    return made;
  }

  const sources = (inner: Operations): ListSource<ServedSkill>[] => [
    ...resolver.mounts.filter(hasSkills).map(
      (mount) =>
        ({
          name: mount.name,
          remote: mount.provider.features.remote === true,
          async list({ cursor, limit }, ctx) {
            ctx.notes?.plain();
            const { skills } = await catalogueOf(inner, mount, ctx).snapshot(ctx);
            const from = cursor === undefined ? 0 : firstFrom(skills, `${cursor}\0`, ({ skill }) => skill.uri);
            const items = skills.slice(from, from + limit);
            return { items, nextCursor: from + limit < skills.length ? items.at(-1)?.skill.uri : undefined };
          },
        }) satisfies ListSource<ServedSkill>,
    ),
    // Those that mounted servers say they have.
    { name: '', remote: false, list: async (page, ctx) => (await inner.listSkills?.(page, ctx)) ?? { items: [] } },
  ];

  return {
    layer(inner) {
      within = inner;
      const has = inner as Required<Operations>;
      const sourceOf = (uri: string): Mount | undefined => {
        const mount = resolver.resolve(uri)?.mount;
        return mount !== undefined && hasSkills(mount) ? mount : undefined;
      };
      return wrapProvider(inner, {
        listSkills: (page, ctx) => pageAcross(sources(inner), page, ctx),
        async getSkill(uri, ctx) {
          const mount = sourceOf(uri);
          if (mount === undefined) return has.getSkill(uri, ctx);
          ctx.notes?.plain();
          return catalogueOf(inner, mount, ctx).get(uri, ctx);
        },
      });
    },
    holds: (uri) => [...catalogues.values()].some((catalogue) => catalogue.holds(uri)),
    async leftOut(mount, ctx) {
      if (within === undefined || !hasSkills(mount)) return [];
      return (await catalogueOf(within, mount, ctx).snapshot(ctx)).leftOut;
    },
    close: () => catalogues.clear(),
  };
}
