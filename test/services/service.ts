/**
 * Programs that a machine may lack: a test that needs one is left out there, with a printed reason, and fails where
 * `CI=true` says that everything has to be there. `scripts/install-services.mjs` installs them.
 */
import { describe } from 'vitest';

export interface Service {
  /** As its makers call it. */
  readonly name: string;
  /** Why it cannot be started here; undefined where it can. */
  readonly missing: () => string | undefined;
}

/** `describe`, or `describe.skip` with a printed reason where a service is missing. */
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
