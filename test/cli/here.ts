/** Runs commands in this process, for tests that need only their output and status. */
import { ROOT } from '../e2e/harness.ts';
import { run } from './client/run.ts';
import type { Outcome } from './run.ts';

/** Does the same as `vitrine` of `run.ts`, in this process. */
export const vitrine = (
  args: readonly string[],
  cwd = ROOT,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> => run(args, env, cwd);
