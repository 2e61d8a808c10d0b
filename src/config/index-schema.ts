/** The schema of `index` in a `vitrine.yaml`: ranked search. */
import { z } from 'zod';

const MIB = 1024 * 1024;

/** The database in which several servers share an index. */
const databaseUrl = z
  .string()
  .regex(/^postgres(?:ql)?:\/\//, 'has to begin with postgres://')
  .describe('A PostgreSQL database instead of files; several servers can share it');

export const indexConfig = z.union([
  z.enum(['on', 'off']),
  databaseUrl,
  z.strictObject({
    folder: z
      .string()
      .min(1)
      .optional()
      .describe('The folder of its files. Default: a folder in the cache of this user'),
    url: databaseUrl.optional(),
    schema: z
      .string()
      .min(1)
      .max(63)
      .optional()
      .describe('The schema of the database, for this index only. Default: vitrine_index'),
    maxBytes: z
      .number()
      .int()
      .min(MIB)
      .optional()
      .describe('The most bytes of its file or tables; texts beyond that are left out. Default: 1073741824'),
    stemming: z
      .enum(['english', 'off'])
      .optional()
      .describe('english: a search for one form of a word finds its other forms. Default: english'),
    diacritics: z.enum(['fold', 'keep']).optional().describe('fold: a search for e finds é. Default: fold'),
    embeddings: z
      .strictObject({
        url: z
          .url({ protocol: /^https?$/ })
          .refine((url) => !/^\w+:\/\/[^/]*@/.test(url), 'must not contain a user or password; give a token as key')
          .describe('The whole URL, as http://127.0.0.1:11434/v1/embeddings'),
        model: z.string().min(1).describe('Name of the model'),
        key: z.string().min(1).optional().describe('Sent as a bearer token. Best a reference to the environment'),
        timeoutSeconds: z.number().int().min(1).max(600).optional().describe('For one response. Default: 10'),
      })
      .optional()
      .describe(
        'Finds texts by meaning, too. Vitrine sends redacted texts and questions to this server. Default: none',
      ),
    rescanSeconds: z
      .number()
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe('Seconds between two checks of resources that report no changes. Default: 60'),
  }),
]);
