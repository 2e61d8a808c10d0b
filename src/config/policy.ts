/** Opens the access policy that a plug-in makes of a configuration. */
import type { AccessPolicy } from '../core/access.ts';
import type { Log } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { loadPlugIn, type PolicyPlugIn } from '../core/plug-in.ts';
import type { CedarConfig } from './access-schema.ts';
import { ConfigError } from './error.ts';
import type { Config } from './schema.ts';

/**
 * Returns the Cedar policy of the configuration; undefined if it has none.
 * @param setting the directory that relative paths start from, and the log for failures of the policy
 * @throws ConfigError with the file, the place in it and what is wrong there
 */
export async function policyOf(
  { access }: Pick<Config, 'access'>,
  setting: { readonly base: string; readonly log: Log },
): Promise<AccessPolicy | undefined> {
  if (access?.cedar === undefined) return undefined;
  const cedar = await loadPlugIn<PolicyPlugIn<CedarConfig>>('cedar');
  try {
    return await cedar.create(access.cedar, setting);
  } catch (error) {
    throw error instanceof ResourceError ? new ConfigError(error.message, { cause: error.cause }) : error;
  }
}
