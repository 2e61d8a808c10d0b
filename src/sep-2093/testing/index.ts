/** `vitrine/sep-2093/testing`: laws of SEP-2093 that any server can be held to, under any test runner. */
import type { HierarchyLaw, MakeHierarchyFixture } from './fixture.ts';
import { LISTING_LAWS } from './listing.ts';
import { READING_LAWS } from './reading.ts';

export type { HierarchyFixture, HierarchyLaw, MakeHierarchyFixture } from './fixture.ts';

/**
 * All laws.
 *
 * @example
 * for (const law of RESOURCE_HIERARCHY_LAWS) it(law.name, () => checkHierarchyLaw(law, makeFixture));
 */
export const RESOURCE_HIERARCHY_LAWS: readonly HierarchyLaw[] = [...LISTING_LAWS, ...READING_LAWS];

/**
 * Makes a server, holds it to one law, and closes it.
 * @throws AssertionError where the law is broken
 */
export async function checkHierarchyLaw(law: HierarchyLaw, make: MakeHierarchyFixture): Promise<void> {
  const fixture = await make();
  try {
    await law.check(fixture);
  } finally {
    await fixture.close?.();
  }
}
