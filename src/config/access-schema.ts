/** The `access` block: who may do what. */
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
    authenticated: z.boolean().optional().describe('Whether a token has said who it is'),
    subjects: names.optional().describe('As their issuers call them'),
    issuers: names.optional().describe('Who vouches for them'),
    groups: names.optional().describe('One of these is enough'),
    clients: names.optional().describe('OAuth clients, by their id'),
    scopes: names.optional().describe('Scopes that the token has to have, each of them'),
  }),
]);

const ruleConfig = z
  .strictObject({
    name: z.string().min(1).max(128).optional().describe('For the audit and vitrine explain. Default: rule 1, rule 2'),
    effect: z
      .enum(['allow', 'ask', 'deny', 'hide'])
      .describe('hide: as if it did not exist; ask: a human confirms. Of rules that match, the strictest decides'),
    who: who.optional().describe('Whom it is about. Default: anyone'),
    operations: z
      .array(z.enum(ACCESS_OPERATIONS))
      .min(1)
      .optional()
      .describe('Default: all; of ask: read, call and prompt'),
    mounts: names.optional().describe('By their names'),
    uris: globs.optional().describe('Globs over URIs, such as docs+file:///guide/**'),
    except: globs.optional().describe('Globs over URIs that it is not about'),
    paths: globs
      .optional()
      .describe('Globs over paths in the tree of a repository, at every revision and in every view'),
    mimeTypes: globs.optional().describe('Globs over types, such as image/*'),
    minBytes: bytes.optional().describe('Only resources of at least this size'),
    maxBytes: bytes.optional().describe('Only resources of at most this size'),
    newerThanSeconds: seconds.optional().describe('Only what has changed since'),
    olderThanSeconds: seconds.optional().describe('Only what has not changed since'),
    audience: z
      .array(z.enum(['user', 'assistant']))
      .min(1)
      .optional()
      .describe('Whom it is for, by its annotations'),
    tools: globs.optional().describe('Globs over names of tools'),
    arguments: z
      .record(z.string(), z.union([argumentValue, z.array(argumentValue).min(1)]))
      .optional()
      .describe('Values of arguments of a call; of texts, globs'),
    prompts: globs.optional().describe('Globs over names of prompts'),
    rememberSeconds: seconds.optional().describe('Of ask: how long an answer is good. Default: 0, this time only'),
  })
  .superRefine((rule, context) => {
    const problem = problemOf(rule);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

const cedarConfig = z.strictObject({
  policies: z.string().min(1).describe('A file of Cedar policies'),
  entities: z.string().min(1).optional().describe('A JSON file of entities beside those of a request. Default: none'),
});

export type CedarConfig = z.infer<typeof cedarConfig>;

export const accessConfig = z
  .strictObject({
    rules: z.array(ruleConfig).max(1_000).optional(),
    default: z.enum(['allow', 'deny', 'hide']).optional().describe('Where no rule matches. Default: deny'),
    cedar: cedarConfig.optional().describe('Policies in Cedar instead of rules'),
  })
  .superRefine(({ rules, cedar, default: otherwise }, context) => {
    if (rules === undefined && cedar === undefined && otherwise === undefined)
      context.addIssue({
        code: 'custom',
        message: 'Say rules, as in access: { rules: [{ effect: allow, who: authenticated }] }',
      });
    if (cedar !== undefined && (rules !== undefined || otherwise !== undefined))
      context.addIssue({ code: 'custom', path: ['cedar'], message: 'is instead of rules and default; remove those' });
  });
