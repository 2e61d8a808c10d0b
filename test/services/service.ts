/**
 * Programs that a machine may lack. A test that needs a missing one is skipped with a printed reason, and fails if `CI=true`, where
 * everything has to be there. `scripts/install-services.mjs` installs them.
 */
import { describe } from 'vitest';

export interface Service {
  /** The name that its makers use. */
  readonly name: string;
  /** Why it cannot be started here; undefined if it can. */
  readonly missing: () => string | undefined;
}

/** `describe`, or `describe.skip` with a printed reason if a service is missing. */
export function describeWith(services: readonly Service[]): typeof describe | typeof describe.skip {
  const reasons = services.flatMap(({ name, missing }) => {
    const why = missing();
    return why === undefined ? [] : [`${name}: ${why}`];
  });
  if (reasons.length === 0) return describe;
  const said = `Needs what is not here (node scripts/install-services.mjs installs it): ${reasons.join('; ')}`;
  if (process.env.CI === 'true') throw new Error(said);
  console.info(`Left out. ${said}`);
  return describe.skip;
}
