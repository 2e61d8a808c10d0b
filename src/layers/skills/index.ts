/**
 * The skills layer lists folders with a `SKILL.md` as skills, with the digest of every file (SEP-2640). It is outside of all
 * layers that change contents, so that a digest is of the bytes that a client gets, and inside of access, which decides about
 * each file for each caller.
 */
import { LRUCache } from 'lru-cache';
import { type Context, createContext } from '../../core/context.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import { type ListSource, pageAcross } from '../../core/lists/across.ts';
import { mapEntries } from '../../core/lists/entries.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import type { Resolver } from '../../core/mounts/resolver.ts';
import type { Operations, ServedSkill } from '../../core/operations.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { SharedAnswers } from '../../core/shared-answers/shared-answers.ts';
import { skillFolderOf } from '../../core/skill-entry.ts';
import type { Resource } from '../../protocol/resources.ts';
import { type Catalogue, createCatalogue, firstFrom, type LeftOut } from './catalogue.ts';
import { sharedDigests } from './shared-digests.ts';

/** The most catalogues that are kept: there is one for each mount and kind of reader. */
const MAX_CATALOGUES = 100;

export interface SkillsOptions {
  readonly resolver: Resolver;
  /** The most that a client gets of a file in one read, in bytes. */
  readonly maxFileBytes: number;
  /**
   * Whether everybody who may list a `SKILL.md` may read it, too. Then lists show the description of the skill, which is a part
   * of the file's content. Default: `false`: lists show only the name of the skill, which is in the URI.
   */
  readonly readable?: boolean | undefined;
  /** Shares digests with other processes. Only for engines that do not change contents. Default: each process makes its own. */
  readonly answers?: SharedAnswers | undefined;
}

/** The skills that were found in a mount. */
export interface Found {
  readonly count: number;
  readonly leftOut: readonly LeftOut[];
}

export interface Skills {
  readonly layer: Layer;
  /** Whether this is a file of a skill, as far as is known. Such a file is given unchanged, in no other format. */
  holds(uri: string): boolean;
  /** Tells those who run the server how many skills a mount has, and which are left out; undefined if it is not searched for skills. */
  found(mount: Mount, ctx: Context): Promise<Found | undefined>;
  close(): void;
}

/** Whether folders of a mount are served as skills. A mounted server that declares skills lists them itself. */
export const findsSkills = ({ skills, server }: Mount): boolean =>
  skills !== undefined && skills !== false && server?.features.skills !== true;

export function createSkills({ resolver, maxFileBytes, readable = false, answers }: SkillsOptions): Skills {
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

  /**
   * Each principal has a catalogue of its own, since a mount may show it other files. Some mounts even show other files to each
   * connection, or for each list of roots.
   */
  function catalogueOf(inner: ResourceProvider, mount: Mount, ctx: Context): Catalogue {
    const { features } = mount.provider;
    const { principal, peer, roots, client, log } = ctx;
    const parts = {
      ...(features.apart === true && { peer, client }),
      ...(features.roots === true && { roots }),
    };
    const key = JSON.stringify([idOf(mount.provider), mount.name, principal.id, parts.peer, parts.roots]);
    const existing = catalogues.get(key);
    if (existing !== undefined) return existing;
    const catalogueCtx = createContext({ principal, log, ...parts });
    const shared = answers && sharedDigests(answers, mount, principal.id);
    const created = createCatalogue({ inner, mount, maxFileBytes, ctx: catalogueCtx, shared });
    catalogues.set(key, created);
    return created;
  }

  const sources = (inner: Operations): ListSource<ServedSkill>[] => [
    ...resolver.mounts.filter(findsSkills).map(
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
    // The skills that mounted servers declare.
    { name: '', remote: false, list: async (page, ctx) => (await inner.listSkills?.(page, ctx)) ?? { items: [] } },
  ];

  const sourceOf = (uri: string): Mount | undefined => {
    const mount = resolver.resolve(uri)?.mount;
    return mount !== undefined && findsSkills(mount) ? mount : undefined;
  };

  return {
    layer(inner) {
      within = inner;
      const has = inner as Required<Operations>;
      /** Searches a mount for skills if that has not been done yet, so that this answer and later ones agree. */
      async function lookFor(mount: Mount | undefined, ctx: Context): Promise<void> {
        if (mount === undefined) return;
        const catalogue = catalogueOf(inner, mount, ctx);
        // If the search fails, the request still gets its own answer.
        if (!catalogue.isKnown) await catalogue.snapshot(ctx).catch(() => ctx.signal.throwIfAborted());
      }

      /** Reads in a mount with skills. These are searched for first, so that their files are given unchanged. */
      const readIn = async (
        mount: Mount,
        ...[uri, want, ctx]: Parameters<Operations['read']>
      ): ReturnType<Operations['read']> => {
        await lookFor(mount, ctx);
        const bodies = await inner.read(uri, want, ctx);
        if (!bodies.some(({ resource }) => mayBeSkill(resource))) return bodies;
        return bodies.map((body) => ({ ...body, resource: described(body.resource, ctx) }));
      };

      const mayBeSkill = ({ uri }: Resource): boolean =>
        skillFolderOf(uri) !== undefined && sourceOf(uri) !== undefined;

      /** Gives a `SKILL.md` the name and the description of its skill (SEP-2640, Resource Metadata). */
      function described(resource: Resource, ctx: Context): Resource {
        const mount = mayBeSkill(resource) ? sourceOf(resource.uri) : undefined;
        const served = mount && catalogueOf(inner, mount, ctx).known(resource.uri);
        if (served === undefined) return resource;
        const { name, description } = served.skill.frontmatter;
        return { ...resource, name, ...(readable && { description: resource.description ?? description }) };
      }

      return wrapProvider(inner, {
        async list(uri, page, ctx) {
          const listed = await inner.list(uri, page, ctx);
          const ofSkills = listed.resources.filter(mayBeSkill);
          if (ofSkills.length === 0) return listed;
          for (const mount of new Set(ofSkills.map((entry) => sourceOf(entry.uri)))) await lookFor(mount, ctx);
          return { ...listed, resources: mapEntries(listed.resources, (entry) => described(entry, ctx), ctx) };
        },
        // A page with other descriptions is made here. The inner provider does not know it, and does not give it again.
        listAgain: inner.listAgain,
        async metadata(uri, ctx) {
          const resource = await inner.metadata(uri, ctx);
          if (!mayBeSkill(resource)) return resource;
          await lookFor(sourceOf(resource.uri), ctx);
          return described(resource, ctx);
        },
        // Not an async function: every read comes through here, and most are of mounts without skills.
        read: (uri, want, ctx) => {
          const mount = sourceOf(uri);
          return mount === undefined ? inner.read(uri, want, ctx) : readIn(mount, uri, want, ctx);
        },
        again: inner.again,
        listSkills: (page, ctx) => pageAcross(sources(inner), page, ctx),
        async getSkill(uri, ctx) {
          const mount = sourceOf(uri);
          if (mount === undefined) return has.getSkill(uri, ctx);
          ctx.notes?.plain();
          return catalogueOf(inner, mount, ctx).get(uri, ctx);
        },
      });
    },
    holds: (uri) => sourceOf(uri) !== undefined && [...catalogues.values()].some((catalogue) => catalogue.holds(uri)),
    async found(mount, ctx) {
      if (within === undefined || !findsSkills(mount)) return undefined;
      const { skills, leftOut } = await catalogueOf(within, mount, ctx).snapshot(ctx);
      return { count: skills.length, leftOut };
    },
    close: () => catalogues.clear(),
  };
}
