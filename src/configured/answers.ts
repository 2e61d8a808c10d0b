/** Finds where a configuration wants answers shared. */
import type { Config } from '../config/schema.ts';
import type { Log } from '../core/context.ts';
import type { AnswersOptions } from '../core/shared-answers/open.ts';

/**
 * Returns the options of shared answers; undefined if answers are not shared.
 * @param hasBus whether a bus may be used; without one, answers that a bus would keep are not shared
 */
export function answersOf({ answers = 'off' }: Partial<Config>, log: Log, hasBus = true): AnswersOptions | undefined {
  if (answers === 'off') return undefined;
  if (answers !== 'bus' && 'folder' in answers) return { ...answers, log };
  if (!hasBus) return undefined;
  return answers === 'bus' ? { bus: true, log } : { ...answers, log };
}
