/** The suggestions of a field: values that a server completes. */
import { stripUnseen } from '../../core/text/clean-text.ts';

/** The most values of one completion (2026-07-28, Completion). If a server sends more, the rest is left out. */
const MAX_VALUES = 100;

/** @param values as they were sent. Values that are not what they look like are left out (SEC-UTIL-6). */
export function suggestionsIn(values: unknown): readonly string[] {
  if (!Array.isArray(values)) return [];
  return values
    .slice(0, MAX_VALUES)
    .filter((value) => typeof value === 'string' && stripUnseen(value) === value && !/[\t\n]/.test(value));
}
