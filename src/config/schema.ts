/** What a `vitrine.yaml` may say. Published as JSON Schema in `schema/vitrine.schema.json` for editors. */
import { z } from 'zod';
import { mountNameProblem } from '../core/mounts.ts';
import { filesConfig } from '../providers/files/config.ts';
import { authConfig } from './auth-schema.ts';
import { nameServers } from './mount-names.ts';
import { everyMount, iconConfig } from './mount-schema.ts';
import { hostEntry, httpMount, stdioMount } from './upstream-schema.ts';

const count = z.number().int().positive();

const serverConfig = z.strictObject({
  name: z.string().min(1).max(128).optional().describe('How the server is called in a host. Default: vitrine'),
  title: z.string().optional(),
  description: z.string().optional(),
  websiteUrl: z.url().optional(),
  icons: z.array(iconConfig).max(16).optional(),
  instructions: z.string().max(32_768).optional().describe('For the model: how to use what is served'),
  allowHosts: z
    .array(z.string())
    .optional()
    .describe('Host names that HTTP answers to, beside localhost and addresses'),
  allowOrigins: z.array(z.string()).optional().describe('Origins whose pages may use HTTP, beside loopback ones'),
  allowRemote: z
    .boolean()
    .optional()
    .describe('Lets HTTP listen where other machines can reach it, without authorization'),
});

const limitsConfig = z.strictObject({
  pageSize: count.max(1_000).optional().describe('Entries of a page. Default: 100'),
  maxReadBytes: count.optional().describe('Bytes of one read, before base64. Default: 7340032'),
  maxChildren: count.max(10_000).optional().describe('Children in the read of a folder. Default: 100'),
  maxRequestBytes: count.optional().describe('Bytes of an HTTP request. Default: 4194304'),
  maxSessions: count.optional().describe('2025-era HTTP sessions at a time. Default: 1000'),
  sessionIdleSeconds: count.optional().describe('Seconds until an unused session ends. Default: 1800'),
  maxStreams: count.optional().describe('Listen streams at a time. Default: 1024'),
  timeoutSeconds: z.number().positive().optional().describe('Seconds for one operation. Default: 30'),
});

const listingConfig = z.union([
  z.enum(['walk', 'roots']),
  z.strictObject({
    mode: z.enum(['walk', 'roots']).optional(),
    maxResources: count.max(100_000).optional().describe('Entries of the default list. Default: 1000'),
    maxDepth: count.max(256).optional().describe('Levels of the default list. Default: 32'),
  }),
]);

const toolsConfig = z.union([
  z.enum(['on', 'off']),
  z.strictObject({
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{0,64}$/, 'has letters, digits, "_", "-" and "."')
      .optional()
      .describe('Goes before the name of each tool, as in docs_read'),
    outputBytes: count
      .min(1_000)
      .max(10 * 1024 * 1024)
      .optional()
      .describe("Bytes that a tool puts into a model's context unless it is told otherwise. Default: 25000"),
  }),
]);

const filesMount = filesConfig.extend({
  ...everyMount,
  prompts: z.string().min(1).optional().describe('A folder in this mount whose Markdown files are prompts'),
  roots: z
    .enum(['client'])
    .optional()
    .describe("client: show only what lies under the client's roots too; symbolic links are left out then"),
});

/** A folder or file, or another server: its path or URL, or a block with options. */
const mountConfig = z.union([z.string().min(1), filesMount, stdioMount, httpMount]);

const auditConfig = z.strictObject({
  file: z.string().min(1).describe('Where the lines go; - for standard error'),
  maxBytes: count.min(4_096).optional().describe('Bytes of one file, until it is put away. Default: 16777216'),
  maxFiles: count.min(2).max(1_000).optional().describe('Files that are kept. Default: 10'),
});

/** Servers as hosts write them, by the name that they have there. */
const hostServers = z.record(z.string(), hostEntry);

const NO_MOUNTS = 'Say what to serve, as in mounts: { docs: ./docs }';
const NO_SERVERS = 'It has no server in it that is not disabled, under mcpServers or servers';

const settings = z.strictObject({
  $schema: z.string().optional(),
  server: serverConfig.optional(),
  auth: authConfig.optional().describe('Who may use HTTP; without it, everybody who reaches it'),
  listing: listingConfig.optional().describe('What a host sees without asking for a folder: walk (default) or roots'),
  limits: limitsConfig.optional(),
  tools: toolsConfig
    .optional()
    .describe('Tools that reach the resources, for hosts that have nothing else. Default: on'),
  icons: z.enum(['on', 'off']).optional().describe('Default icons of resources by their type. Default: on'),
  prompts: z.string().min(1).optional().describe('A folder whose Markdown files are prompts, and not resources'),
  confirm: z
    .array(z.string().min(1).max(4_096))
    .max(1_000)
    .optional()
    .describe('Globs over URIs, such as docs+file:///private/**: a human confirms each read of what matches'),
  audit: auditConfig.optional().describe('A line for each operation, in a chain that shows changes'),
  mounts: z
    .record(
      z.string().superRefine((name, context) => {
        const problem = mountNameProblem(name);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      }),
      mountConfig,
      NO_MOUNTS,
    )
    .default({}),
  mcpServers: hostServers.optional().describe('Other servers as hosts write them; each is a mount'),
});

export const config = settings.superRefine(({ mounts, mcpServers = {} }, context) => {
  const names = Object.keys(mounts);
  if (names.length + Object.keys(mcpServers).length === 0)
    context.addIssue({ code: 'custom', path: ['mounts'], message: NO_MOUNTS });
  for (const { title, problem } of nameServers(Object.keys(mcpServers), names))
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['mcpServers', title], message: problem });
});

/** A file of a host: VS Code calls them `servers`. What else is in it is the host's. */
export const hostFile = z
  .looseObject({ mcpServers: hostServers.optional(), servers: hostServers.optional() })
  .superRefine(({ mcpServers, servers }, context) => {
    const key = mcpServers === undefined ? 'servers' : 'mcpServers';
    const titles = Object.keys(mcpServers ?? servers ?? {});
    if (titles.length === 0) context.addIssue({ code: 'custom', path: [key], message: NO_SERVERS });
    for (const { title, problem } of nameServers(titles, []))
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [key, title], message: problem });
  });

export type Config = z.infer<typeof config>;
export type HostFile = z.infer<typeof hostFile>;
