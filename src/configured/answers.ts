/** The place of shared answers that a configuration names. */
import type { Config } from '../config/schema.ts';
import type { Log } from '../core/context.ts';
import type { AnswersOptions } from '../core/shared-answers/open.ts';

/**
 * Undefined where answers are not shared.
 * @param hasBus whether there can be a bus: where there is one host only, nothing is kept on one
 */
export function answersOf({ answers = 'off' }: Partial<Config>, log: Log, hasBus = true): AnswersOptions | undefined {
  if (answers === 'off') return undefined;
  if (answers !== 'bus' && 'folder' in answers) return { ...answers, log };
  if (!hasBus) return undefined;
  return answers === 'bus' ? { bus: true, log } : { ...answers, log };
}
