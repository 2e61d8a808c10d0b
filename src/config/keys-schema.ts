/** The schema of `keys`, which seal values that clients hold; `docs/guide/scaling.md` says how they are shared and replaced. */
import { z } from 'zod';
import { ResourceError } from '../core/errors.ts';
import { parseKeys } from '../core/keys.ts';

/** Texts that hold keys, or a file with such a text. */
export const keysConfig = z.union([
  z
    .array(z.string().max(8_192))
    .min(1)
    .superRefine((texts, context) => {
      try {
        parseKeys(texts.join(' '), 'keys');
      } catch (error) {
        if (!(error instanceof ResourceError)) throw error;
        context.addIssue({ code: 'custom', message: error.message });
      }
    }),
  z.strictObject({ file: z.string().min(1).describe('A file with keys: first the key that seals') }),
]);
