/** The schema of a `vitrine.yaml`. Published as JSON Schema in `schema/vitrine.schema.json` for editors. */
import { z } from 'zod';
import { globConfig } from '../core/glob/config.ts';
import { isWebAddress } from '../core/icons.ts';
import { mountNameProblem } from '../core/mounts.ts';
import { anchorProblem } from '../layers/audit/anchor.ts';
import { RATE } from '../layers/limits/rates.ts';
import { isCardName } from '../protocol/server-card.ts';
import { commandConfig } from '../providers/command/config.ts';
import { filesConfig } from '../providers/files/config.ts';
import { gitConfig } from '../providers/git/config.ts';
import { httpConfig } from '../providers/http/config.ts';
import { memoryConfig } from '../providers/memory/config.ts';
import { s3Config } from '../providers/s3/config.ts';
import { sqlConfig } from '../providers/sql/config.ts';
import { accessConfig } from './access-schema.ts';
import { answersConfig } from './answers-schema.ts';
import { authConfig, signInConfig } from './auth-schema.ts';
import { busConfig } from './bus-schema.ts';
import { describeConfig } from './describe-schema.ts';
import { formsConfig } from './forms-schema.ts';
import { indexConfig } from './index-schema.ts';
import { keysConfig } from './keys-schema.ts';
import { kindsConfig } from './kinds-schema.ts';
import { nameServers } from './mount-names.ts';
import { everyMount, iconConfig } from './mount-schema.ts';
import { nestedConfig } from './nested-schema.ts';
import { redactConfig } from './redact-schema.ts';
import { metricsProblem, telemetryConfig } from './telemetry-schema.ts';
import { hostEntry, httpMount, stdioMount } from './upstream-schema.ts';

const count = z.number().int().positive();

const tlsConfig = z.strictObject({
  cert: z.string().min(1).describe('A file with the certificate and those between it and its authority, in PEM'),
  key: z.string().min(1).describe('A file with its private key, in PEM'),
  passphrase: z.string().min(1).optional().describe('The passphrase of the key; may refer to the environment'),
  ca: z
    .string()
    .min(1)
    .optional()
    .describe('A file with authorities; clients must show a certificate of one of them. Default: none'),
  minVersion: z.enum(['TLSv1.2', 'TLSv1.3']).optional().describe('Default: TLSv1.2'),
});

const cardConfig = z.union([
  z.enum(['on', 'off']),
  z.strictObject({
    name: z
      .string()
      .refine(isCardName, 'is as in example.library/catalogue')
      .optional()
      .describe("The server's name as in a registry. Default: its host name, reversed, and server.name"),
    url: z
      .string()
      .refine((url) => isWebAddress(url) && !/[#?]/.test(url), 'is an https: or http: URL without query and fragment')
      .optional()
      .describe('The endpoint as clients know it. Default: auth.resource, or the URL of the request'),
  }),
]);

// Not `z.url`, which drops the characters that URL parsers drop.
const webAddress = z.string().refine(isWebAddress, 'is an https: or http: URL without user');

const serverConfig = z.strictObject({
  name: z.string().min(1).max(128).optional().describe('The name of the server in hosts. Default: vitrine'),
  title: z.string().optional(),
  description: z.string().optional(),
  websiteUrl: webAddress.optional(),
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
  card: cardConfig.optional().describe('The server card that everybody may read over HTTP (SEP-2127). Default: on'),
  tls: tlsConfig.optional().describe('Serves HTTPS, with certificates that are read again when they change'),
});

/** Sent with each request of the 2026 era, so it is short: icons are URLs, not images. */
const clientConfig = z.strictObject({
  title: z.string().min(1).max(128).optional(),
  description: z.string().min(1).max(1_024).optional(),
  websiteUrl: webAddress.optional(),
  icons: z
    .array(iconConfig.refine(({ src }) => isWebAddress(src), 'is an https: or http: URL without user'))
    .max(4)
    .optional(),
});

const rate = z.string().regex(RATE, 'is a number and s, min or h, as in 600/min, or off');

const ratesConfig = z.strictObject({
  principal: rate.optional().describe('Requests of one principal. Default: 6000/min'),
  anonymous: rate
    .optional()
    .describe('Requests of all anonymous callers together. Default: off; with auth, the rate of a principal'),
  client: rate.optional().describe('Requests of one OAuth client. Default: 60000/min'),
  methods: z
    .record(z.string().min(1).max(128), rate)
    .optional()
    .describe('Requests of one principal for a method. Default: 3000/min for tools/call and for completion/complete'),
  tools: z
    .record(z.string().min(1).max(256), rate)
    .optional()
    .describe('Calls of a tool by one principal, by the name of the tool. Default: none'),
});

const seconds = z.number().positive().optional();

const timeoutsConfig = z.strictObject({
  list: seconds,
  metadata: seconds,
  read: seconds.describe('Seconds until all contents are there'),
  templates: seconds,
  complete: seconds,
  search: seconds.describe('Seconds for each match'),
});

const limitsConfig = z.strictObject({
  pageSize: count.max(1_000).optional().describe('Entries of a page. Default: 100'),
  maxReadBytes: count.optional().describe('Bytes of one read, counted before base64. Default: 7340032'),
  maxChildren: count.max(10_000).optional().describe('Children in the read of a folder. Default: 100'),
  maxRequestBytes: count.optional().describe('Bytes of an HTTP request. Default: 4194304'),
  maxSessions: count.optional().describe('2025-era HTTP sessions at a time. Default: 1000'),
  sessionIdleSeconds: count.optional().describe('Seconds until an unused session ends. Default: 1800'),
  maxStreams: count.optional().describe('Listen streams at a time. Default: 1024'),
  maxConnections: count
    .optional()
    .describe('HTTP connections at a time. Default: 4096, or more if limits allow more sessions and streams'),
  maxConnectionsPerAddress: count
    .optional()
    .describe('HTTP connections of one address at a time. Default: 256; no limit for this machine'),
  headersSeconds: z.number().positive().optional().describe('Seconds for the headers of a request. Default: 20'),
  requestSeconds: z.number().positive().optional().describe('Seconds for a whole request to arrive. Default: 60'),
  keepAliveSeconds: z.number().positive().optional().describe('Seconds between requests of a connection. Default: 65'),
  unreadSeconds: z.number().positive().optional().describe('Seconds that a client may take to read. Default: 60'),
  maxUnreadBytes: count.optional().describe('Bytes of a stream that its client has not read yet. Default: 16777216'),
  timeoutSeconds: z.number().positive().optional().describe('Seconds for one operation. Default: 30'),
  timeouts: timeoutsConfig.optional().describe('Seconds for one operation of a kind. Default: timeoutSeconds'),
  maxRequestDepth: count.max(1_000).optional().describe('Levels of arrays and objects in an HTTP request. Default: 64'),
  rates: ratesConfig.optional().describe('How many requests in a time, as in 600/min; off: any number'),
  without: z
    .enum(['local', 'refuse'])
    .optional()
    .describe(
      'While the bus is away, local: each replica counts by itself; refuse: requests with a rate fail. Default: local',
    ),
  maxConcurrent: count.optional().describe('Requests that run at a time. Default: 1000'),
  maxConcurrentPerPrincipal: count.optional().describe('Requests of one principal that run at a time. Default: 250'),
  maxHeldBytes: count
    .min(1_048_576)
    .optional()
    .describe('Bytes of contents and answers in memory at a time. Default: 67108864'),
  keptBytes: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe('Bytes of answers to reads and lists that are kept to be given again; 0 keeps none. Default: 16777216'),
  maxSubscriptions: count.optional().describe('Subscriptions to resources at a time. Default: 100000'),
  maxSubscriptionsPerPrincipal: count.optional().describe('Subscriptions of one principal. Default: 5000'),
  maxSessionsPerPrincipal: count.optional().describe('2025-era HTTP sessions of one principal. Default: 100'),
  maxStreamsPerPrincipal: count.optional().describe('Listen streams of one principal over HTTP. Default: 100'),
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
  z.enum(['all', 'read', 'off', 'on']),
  z.strictObject({
    offer: z
      .enum(['all', 'read'])
      .optional()
      .describe('read: only tools that read, none for subscriptions and summaries. Default: all'),
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
  nested: nestedConfig,
  prompts: z.string().min(1).optional().describe('A folder in this mount whose Markdown files are prompts'),
  roots: z
    .enum(['client'])
    .optional()
    .describe("client: show only what lies under the client's roots too; symbolic links are left out then"),
});

/** A block of a plug-in also has its own settings. Their schema checks them when the package is loaded. */
const pluggedMount = z.looseObject({
  kind: z
    .string()
    .min(1)
    .max(64)
    .describe('The name of a kind that a package under kinds adds; its settings stand beside it'),
  ...everyMount,
});

/** A mount: a path or URL, or a block with options; each kind of block has one key that no other has. */
const mountConfig = z.union([
  z.string().min(1),
  filesMount,
  stdioMount,
  httpMount,
  memoryConfig.extend(everyMount),
  gitConfig.extend(everyMount),
  s3Config.extend(everyMount),
  sqlConfig.extend(everyMount),
  commandConfig.extend(everyMount),
  httpConfig.extend(everyMount),
  pluggedMount,
]);

const anchorPlace = z
  .string()
  .min(1)
  .max(8_192)
  .superRefine((to, context) => {
    const message = anchorProblem(to);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

const anchorConfig = z.union([
  anchorPlace,
  z.strictObject({
    to: anchorPlace.describe('A file, a URL that is posted to, or - for standard error'),
    headers: z
      .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/), z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/))
      .optional()
      .describe('Sent to the URL; may refer to the environment'),
    everySeconds: z.number().min(1).max(86_400).optional().describe('Seconds between two notes. Default: 60'),
  }),
]);

const auditConfig = z.strictObject({
  file: z.string().min(1).describe('The file that lines are written to; - for standard error'),
  maxBytes: count.min(4_096).optional().describe('Bytes of one file, after which a new one begins. Default: 16777216'),
  maxFiles: count.min(2).max(1_000).optional().describe('Files that are kept. Default: 10'),
  anchor: anchorConfig.optional().describe('Another place that notes the head of the chain. Default: none'),
});

/** Servers as hosts write them, by their names in the host. */
const hostServers = z.record(z.string(), hostEntry);

const NO_MOUNTS = 'Say what to serve, as in mounts: { docs: ./docs }';
const NO_SERVERS = 'There is no server under mcpServers or servers, or all are disabled';

const NO_ACCESS =
  'needs access beside it, for what callers may do, as in access: { rules: [{ effect: allow, who: authenticated }] }';

const NO_KEYS = 'Replicas share keys; add keys, with a key that is made with: openssl rand -base64 32';

const NO_KEYS_FOR_ANSWERS =
  'Answers are sealed there, also for the next start; add keys, with a key that is made with: openssl rand -base64 32';

const settings = z.strictObject({
  $schema: z.string().optional(),
  server: serverConfig.optional(),
  client: clientConfig.optional().describe('How Vitrine introduces itself to the servers in mounts. Default: vitrine'),
  auth: authConfig.optional().describe('Who may use HTTP; without auth, everybody who reaches the server'),
  listing: listingConfig.optional().describe('What a host sees without asking for a folder: walk (default) or roots'),
  keys: keysConfig
    .optional()
    .describe('Keys that seal what clients hold, shared by replicas. Default: a random key for each process'),
  bus: busConfig
    .optional()
    .describe('Joins replicas over Redis or Valkey, as in redis://host:6379; may refer to the environment'),
  answers: answersConfig
    .optional()
    .describe('Where processes share texts of documents, sealed with keys: { folder: ... } or bus. Default: off'),
  limits: limitsConfig.optional(),
  tools: toolsConfig
    .optional()
    .describe('Tools that reach the resources, for hosts that know only tools: all (or on), read or off. Default: all'),
  icons: z
    .enum(['on', 'off'])
    .optional()
    .describe('Icons by type, on: everywhere; off: nowhere. Default: where a single resource is shown, not in lists'),
  explorer: z
    .union([z.enum(['on', 'off']), signInConfig])
    .optional()
    .describe(
      'Pages for people at the root of the HTTP server: on, off or, with auth, how people sign in. Default: on',
    ),
  prompts: z.string().min(1).optional().describe('A folder whose Markdown files are prompts, and not resources'),
  confirm: z
    .array(globConfig('uri'))
    .max(1_000)
    .optional()
    .describe('Globs over URIs, such as docs+file:///private/**: a human confirms each read of a URI that matches'),
  redact: redactConfig.optional().describe('Finds secrets in contents and covers them. Default: off'),
  forms: formsConfig.optional().describe('Other formats of resources, such as the text of documents. Default: on'),
  index: indexConfig.optional().describe('Ranked search in the contents of the mounts. Default: off'),
  describe: describeConfig
    .optional()
    .describe('Titles, descriptions, icons and annotations for resources that match. Default: none'),
  access: accessConfig.optional().describe('Who may do what; with access, everything that nothing allows is denied'),
  audit: auditConfig.optional().describe('Writes a line for each operation, in a chain that reveals changes'),
  telemetry: telemetryConfig.optional().describe('Traces and metrics. Default: none'),
  kinds: kindsConfig.optional().describe('Packages that add kinds of data. Each is code that runs as Vitrine does'),
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

export const config = settings.superRefine(
  ({ mounts, mcpServers = {}, auth, telemetry, access, confirm, bus, keys, answers }, context) => {
    const problem = metricsProblem(telemetry, auth !== undefined);
    if (problem !== undefined)
      context.addIssue({ code: 'custom', path: ['telemetry', 'metrics', 'prometheus'], message: problem });
    const names = Object.keys(mounts);
    if (names.length + Object.keys(mcpServers).length === 0)
      context.addIssue({ code: 'custom', path: ['mounts'], message: NO_MOUNTS });
    if (auth !== undefined && access === undefined)
      context.addIssue({ code: 'custom', path: ['auth'], message: NO_ACCESS });
    if (bus !== undefined && keys === undefined) context.addIssue({ code: 'custom', path: ['bus'], message: NO_KEYS });
    if (typeof answers === 'object' && 'folder' in answers && keys === undefined)
      context.addIssue({ code: 'custom', path: ['answers'], message: NO_KEYS_FOR_ANSWERS });
    if (access?.cedar !== undefined && confirm !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['confirm'],
        message: 'With access.cedar, policies say what a human confirms; remove this',
      });
    for (const { title, problem } of nameServers(Object.keys(mcpServers), names))
      if (problem !== undefined) context.addIssue({ code: 'custom', path: ['mcpServers', title], message: problem });
  },
);

/** A file of a host, with servers under `mcpServers`, or under `servers` as in VS Code. All other keys are the host's own. */
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
