/** How much one statement may take, by the options of the mount and by who asks. */
import type { SqlConfig } from './config.ts';
import type { Limits } from './dialect.ts';

export type LimitsOf = (asked: Partial<Limits> & Pick<Limits, 'signal'>) => Limits;

export const limitsFor =
  ({ pageRows, maxBytes, maxValueBytes, statementTimeoutSeconds }: SqlConfig): LimitsOf =>
  (asked) => ({
    maxRows: asked.maxRows ?? pageRows,
    maxBytes: Math.min(asked.maxBytes ?? maxBytes, maxBytes),
    maxValueBytes: asked.maxValueBytes ?? maxValueBytes,
    timeoutMs: asked.timeoutMs ?? statementTimeoutSeconds * 1_000,
    signal: asked.signal,
  });
