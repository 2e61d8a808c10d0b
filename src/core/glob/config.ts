/** Globs in a configuration: an ambiguous one is refused when the configuration is read. */
import { z } from 'zod';
import { type GlobSubject, globProblem } from './index.ts';

/** One glob, of at most 4,096 characters. */
export const globConfig = (subject: GlobSubject): z.ZodString =>
  z
    .string()
    .min(1)
    .max(4_096)
    .superRefine((glob, context) => {
      const problem = globProblem([glob], subject);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    });
