/** The skills that mounted servers declare. */
import type { NamedOperations } from '../../core/operations.ts';
import { noSuchSkill } from '../../core/skill.ts';

export type SkillRegistry = Pick<NamedOperations, 'listSkills' | 'getSkill'>;

export function createSkillRegistry(): SkillRegistry {
  return {
    listSkills: async () => ({ items: [] }),
    async getSkill(uri) {
      throw noSuchSkill(uri);
    },
  };
}
