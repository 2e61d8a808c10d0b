/** Random configurations, each with a random caller. */
import fc from 'fast-check';
import { ERAS, type Era } from '../../../e2e/harness.ts';
import { type Question, questionsAbout } from './questions.ts';
import type { Rules } from './reference.ts';
import { rulesAbout } from './rules.ts';
import { MOUNT_NAMES, type MountName, PEOPLE } from './things.ts';

/** One configuration, the caller, and the requests. */
export interface Case {
  readonly mounts: readonly MountName[];
  readonly rules: Rules;
  /** The index of the person. */
  readonly person: number;
  readonly era: Era;
  readonly pageSize: number;
  readonly questions: readonly Question[];
}

/** Mounts in any order. `docs` is always there; `notes` and `raw`, which have no prefix, are never there together. */
const mountsWith = (focus: MountName): fc.Arbitrary<readonly MountName[]> =>
  fc.tuple(fc.shuffledSubarray([...MOUNT_NAMES]), fc.boolean()).map(([names, first]) => {
    const wanted = [...new Set<MountName>(['docs', focus])].filter((name) => !names.includes(name));
    const all = first ? [...wanted, ...names] : [...names, ...wanted];
    return all.filter((name) => name !== (focus === 'raw' ? 'notes' : all.includes('notes') ? 'raw' : undefined));
  });

/** Most of a case is about one mount, so that its requests are about the resources that its rules name. */
export const cases: fc.Arbitrary<Case> = fc.oneof(
  ...MOUNT_NAMES.map((focus) =>
    fc.record({
      mounts: mountsWith(focus),
      rules: rulesAbout(focus),
      person: fc.nat({ max: PEOPLE.length - 1 }),
      era: fc.constantFrom(...ERAS),
      pageSize: fc.constantFrom(100, 100, 100, 2),
      questions: questionsAbout(focus),
    }),
  ),
);
