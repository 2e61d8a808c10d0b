/** Runs commands in this process, for tests of what they say and not of what only a process shows. */
import { ROOT } from '../e2e/harness.ts';
import { run } from './client/run.ts';
import type { Outcome } from './run.ts';

/** As `vitrine` of `run.ts`. */
export const vitrine = (
  args: readonly string[],
  cwd = ROOT,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> => run(args, env, cwd);
