/** The skills that mounted servers declare. */

import { PeerError } from '../../core/errors.ts';
import { type ListSource, pageAcross } from '../../core/lists/across.ts';
import type { PublishedServer } from '../../core/mounts/published-server.ts';
import type { NamedOperations, ServedSkill } from '../../core/operations.ts';
import { noSuchSkill } from '../../core/skill.ts';
import type { Skill } from '../../protocol/skills.ts';

/** Lists and gets skills. The layers wrap these operations: no other code calls them directly. */
export interface SkillRegistry extends Pick<NamedOperations, 'listSkills' | 'getSkill'> {
  /** Whether a mounted server declares skills, as far as is known by now. */
  readonly some: boolean;
  /** Whether every server with skills can list folders. */
  readonly directories: boolean;
}

/** Mounted servers tell only the URIs of a skill's files. */
const NONE: ServedSkill['files'] = new Map();

/** @param mountOf the mount of a published URI */
export function createSkillRegistry(
  servers: readonly PublishedServer[],
  mountOf: (uri: string) => string | undefined,
): SkillRegistry {
  const has = ({ features }: PublishedServer): boolean => features.skills === true;
  const served = (skill: Skill, { mount }: PublishedServer): ServedSkill => ({ skill, mount, files: NONE });

  const sources = servers.map(
    (server): ListSource<ServedSkill> => ({
      name: server.mount,
      remote: true,
      async list(page, ctx) {
        if (!has(server) || server.listSkills === undefined) return { items: [] };
        const { skills, ...rest } = await server.listSkills(page, ctx);
        // Without a prefix, a URI may lead to another mount.
        return {
          ...rest,
          items: skills.filter(({ uri }) => mountOf(uri) === server.mount).map((skill) => served(skill, server)),
        };
      },
    }),
  );

  return {
    get some() {
      return servers.some(has);
    },
    get directories() {
      return servers.filter(has).every(({ features }) => features.directories === true);
    },
    listSkills: (page, ctx) => pageAcross(sources, page, ctx),
    async getSkill(uri, ctx) {
      const mount = mountOf(uri);
      const server = servers.find((candidate) => candidate.mount === mount && has(candidate));
      if (server?.getSkill === undefined) throw noSuchSkill(uri);
      try {
        return served(await server.getSkill(uri, ctx), server);
      } catch (error) {
        throw error instanceof PeerError ? noSuchSkill(uri).withCause(error) : error;
      }
    },
  };
}
