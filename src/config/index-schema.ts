/** The schema of `index` in a `vitrine.yaml`: ranked search. */
import { z } from 'zod';

const MIB = 1024 * 1024;

export const indexConfig = z.union([
  z.enum(['on', 'off']),
  z.strictObject({
    folder: z.string().min(1).optional().describe('Where its files are. Default: a folder of the cache of this user'),
    maxBytes: z
      .number()
      .int()
      .min(MIB)
      .optional()
      .describe('Bytes of its file; what has no room is left out. Default: 1073741824'),
    stemming: z
      .enum(['english', 'off'])
      .optional()
      .describe('english: forms of a word are found by each other. Default: english'),
    diacritics: z.enum(['fold', 'keep']).optional().describe('fold: é is found by e. Default: fold'),
    rescanSeconds: z
      .number()
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe('Seconds between two looks at what tells of no changes. Default: 60'),
  }),
]);
