/** The schema of the `access` block: who may do what. */
import { z } from 'zod';
import { ACCESS_OPERATIONS } from '../core/decided.ts';
import { problemOf } from '../layers/access/index.ts';

const globs = z.array(z.string().min(1).max(4_096)).min(1).max(1_000);
const names = z.array(z.string().min(1).max(1_024)).min(1).max(1_000);
const seconds = z.number().min(0);
const bytes = z.number().int().min(0);
const argumentValue = z.union([z.string().max(4_096), z.number(), z.boolean()]);

const who = z.union([
  z.enum(['anyone', 'anonymous', 'authenticated']),
  z.strictObject({
    authenticated: z.boolean().optional().describe('Whether the caller has a token'),
    subjects: names.optional().describe('Subjects, as their issuers name them'),
    issuers: names.optional().describe('The issuers of their tokens'),
    groups: names.optional().describe('Groups; membership in one is enough'),
    clients: names.optional().describe('Ids of OAuth clients'),
    scopes: names.optional().describe('Scopes; the token must have all of them'),
  }),
]);

const ruleConfig = z
  .strictObject({
    name: z.string().min(1).max(128).optional().describe('For the audit and vitrine explain. Default: rule 1, rule 2'),
    effect: z
      .enum(['allow', 'ask', 'deny', 'hide'])
      .describe('hide: as if it did not exist; ask: a human confirms. Of all matching rules, the strictest decides'),
    who: who.optional().describe('The callers it applies to. Default: anyone'),
    operations: z
      .array(z.enum(ACCESS_OPERATIONS))
      .min(1)
      .optional()
      .describe('Default: all; of ask: read, call and prompt'),
    mounts: names.optional().describe('Names of mounts'),
    uris: globs.optional().describe('Globs over URIs, such as docs+file:///guide/**'),
    except: globs.optional().describe('Globs over URIs that it does not apply to'),
    paths: globs
      .optional()
      .describe('Globs over paths in the tree of a repository, at every revision and in every view'),
    mimeTypes: globs.optional().describe('Globs over types, such as image/*'),
    minBytes: bytes.optional().describe('Only resources of at least this size'),
    maxBytes: bytes.optional().describe('Only resources of at most this size'),
    newerThanSeconds: seconds.optional().describe('Only resources changed within this time'),
    olderThanSeconds: seconds.optional().describe('Only resources not changed within this time'),
    audience: z
      .array(z.enum(['user', 'assistant']))
      .min(1)
      .optional()
      .describe('The audience in its annotations'),
    tools: globs.optional().describe('Globs over names of tools'),
    arguments: z
      .record(z.string(), z.union([argumentValue, z.array(argumentValue).min(1)]))
      .optional()
      .describe('Values of arguments of a call; globs for texts'),
    prompts: globs.optional().describe('Globs over names of prompts'),
    rememberSeconds: seconds
      .optional()
      .describe('For ask: how long an answer is remembered. Default: 0, this time only'),
  })
  .superRefine((rule, context) => {
    const problem = problemOf(rule);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

const cedarConfig = z.strictObject({
  policies: z.string().min(1).describe('A file of Cedar policies'),
  entities: z
    .string()
    .min(1)
    .optional()
    .describe('A JSON file of entities, added to those of a request. Default: none'),
});

export type CedarConfig = z.infer<typeof cedarConfig>;

export const accessConfig = z
  .strictObject({
    rules: z.array(ruleConfig).max(1_000).optional(),
    default: z.enum(['allow', 'deny', 'hide']).optional().describe('The effect where no rule matches. Default: deny'),
    cedar: cedarConfig.optional().describe('Policies in Cedar instead of rules'),
  })
  .superRefine(({ rules, cedar, default: otherwise }, context) => {
    if (rules === undefined && cedar === undefined && otherwise === undefined)
      context.addIssue({
        code: 'custom',
        message: 'Give rules, as in access: { rules: [{ effect: allow, who: authenticated }] }',
      });
    if (cedar !== undefined && (rules !== undefined || otherwise !== undefined))
      context.addIssue({ code: 'custom', path: ['cedar'], message: 'replaces rules and default; remove those' });
  });
