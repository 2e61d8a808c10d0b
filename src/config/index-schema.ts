/** The schema of `index` in a `vitrine.yaml`: ranked search. */
import { z } from 'zod';

const MIB = 1024 * 1024;

/** Where several servers share an index. */
const databaseUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//, 'has to begin with postgres://')
  .describe('A PostgreSQL database, instead of files: servers share it');

export const indexConfig = z.union([
  z.enum(['on', 'off']),
  databaseUrl,
  z.strictObject({
    folder: z.string().min(1).optional().describe('Where its files are. Default: a folder of the cache of this user'),
    url: databaseUrl.optional(),
    schema: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('The schema of the database that is for this index alone. Default: vitrine_index'),
    maxBytes: z
      .number()
      .int()
      .min(MIB)
      .optional()
      .describe('Bytes of its file, or tables; what has no room is left out. Default: 1073741824'),
    stemming: z
      .enum(['english', 'off'])
      .optional()
      .describe('english: forms of a word are found by each other. Default: english'),
    diacritics: z.enum(['fold', 'keep']).optional().describe('fold: é is found by e. Default: fold'),
    embeddings: z
      .strictObject({
        url: z
          .url({ protocol: /^https?$/ })
          .refine((url) => !/^\w+:\/\/[^/]*@/.test(url), 'has no user and no password: say key for a token')
          .describe('The whole URL, as http://127.0.0.1:11434/v1/embeddings'),
        model: z.string().min(1).describe('Name of the model'),
        key: z.string().min(1).optional().describe('Sent as a bearer token. Best a reference to the environment'),
        timeoutSeconds: z.number().int().min(1).max(600).optional().describe('For one answer. Default: 10'),
      })
      .optional()
      .describe('Finds by meaning, too: redacted texts and questions are sent to this server. Default: none'),
    rescanSeconds: z
      .number()
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe('Seconds between two looks at what tells of no changes. Default: 60'),
  }),
]);
