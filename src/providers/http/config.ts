/** The options of web resources; each is documented in `docs/providers/http.md`. */
import { z } from 'zod';
import type { Log } from '../../core/context.ts';
import { hasUser } from '../../core/uri/user.ts';
import { annotationsConfig } from '../annotations.ts';
import type { Resolve } from './resolve.ts';

const seconds = z.number().positive().max(86_400);

/** The mistake of a URL for which `hasUser` holds. */
export const NO_USER = 'has a user or a password in it; say them in headers';

const address = z
  .string()
  .max(8_192)
  .refine((text) => /^https?:\/\//i.test(text) && URL.canParse(text), 'is not an http: or https: URL')
  .refine((text) => !hasUser(text), NO_USER);

const headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'cannot be the name of a header'),
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has a character in it that a header cannot have'),
);
const query = z.record(z.string().min(1).max(256), z.string().max(4_096));

const access = {
  headers: headers.optional().describe('Headers for the origin of the URL only; may refer to the environment'),
  query: query
    .optional()
    .describe('Query parameters for the origin of the URL only, such as a key; they are never shown'),
};

const variable = z.strictObject({
  values: z.array(z.string().min(1).max(1_024)).min(1).max(10_000).describe('The values that the variable can have'),
});

const entry = z
  .strictObject({
    url: address.optional().describe('One resource'),
    urlTemplate: z
      .string()
      .min(1)
      .max(8_192)
      .refine((text) => !hasUser(text), NO_USER)
      .optional()
      .describe('Many resources, as in https://api.example/items/{id}'),
    openapi: z
      .string()
      .min(1)
      .max(8_192)
      .refine((text) => !hasUser(text), NO_USER)
      .optional()
      .describe('An OpenAPI document, 3.0 or 3.1, whose GET operations are resources and templates: a file or a URL'),
    server: address.optional().describe('The URL of the API. Default: the first server in the document'),
    name: z.string().min(1).max(1_024).optional().describe('Default: the key of the entry, or the end of the URL'),
    title: z.string().optional(),
    description: z.string().optional(),
    mimeType: z.string().min(1).max(256).optional().describe('Default: the type that the server sends'),
    annotations: annotationsConfig.optional().describe('The audience, and how important the resource is for them'),
    feed: z
      .boolean()
      .optional()
      .describe('Lists the entries of the feed as children. Default: if the server sends the type of a feed'),
    variables: z
      .record(z.string().min(1).max(256), variable)
      .optional()
      .describe('The variables of the template, by name'),
    ...access,
  })
  .superRefine((block, context) => {
    const sources = (['url', 'urlTemplate', 'openapi'] as const).filter((key) => block[key] !== undefined);
    if (sources.length !== 1) {
      const message = 'an entry has one of url, urlTemplate and openapi';
      context.addIssue({ code: 'custom', message, path: sources.slice(1, 2) });
    }
    if (block.variables !== undefined && block.urlTemplate === undefined)
      context.addIssue({ code: 'custom', message: 'belongs to a urlTemplate', path: ['variables'] });
    if (block.server !== undefined && block.openapi === undefined)
      context.addIssue({ code: 'custom', message: 'belongs to an openapi document', path: ['server'] });
    if (block.feed !== undefined && block.url === undefined)
      context.addIssue({ code: 'custom', message: 'belongs to a url', path: ['feed'] });
  });

const entries = z.union([address, entry]);

export const httpConfig = z.strictObject({
  http: z
    .union([address, z.array(entries).min(1).max(10_000), z.record(z.string().min(1).max(1_024), entries)])
    .describe('A URL, or a list or named entries, each a URL or a block with url, urlTemplate or openapi'),
  ...access,
  allowPrivate: z
    .union([z.boolean(), z.array(z.string().min(1).max(256)).max(1_000)])
    .optional()
    .describe('Allows addresses that are not public: true, or a list of addresses, ranges and hosts. Default: none'),
  watch: z.boolean().optional().describe('Looks for changes while somebody is subscribed. Default: true'),
  pollSeconds: seconds.optional().describe('Seconds from one look to the next. Default: 60'),
  head: z.boolean().optional().describe('Asks with HEAD for type, size and time before a read. Default: true'),
  ttlSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .optional()
    .describe('Seconds for which an answer is fresh if the server does not say. Default: 0'),
  cacheBytes: z.number().int().min(0).optional().describe('Bytes of answers that are kept. Default: 16777216'),
  maxBytes: z.number().int().positive().optional().describe('Bytes of one answer, unpacked. Default: 67108864'),
  maxRedirects: z.number().int().min(0).max(20).optional().describe('Redirects that are followed. Default: 5'),
  maxConnections: z
    .number()
    .int()
    .positive()
    .max(1_000)
    .optional()
    .describe('Connections to one origin at a time. Default: 8'),
  connectTimeoutSeconds: seconds.optional().describe('Seconds for connecting. Default: 5'),
  headersTimeoutSeconds: seconds.optional().describe('Seconds until an answer begins. Default: 15'),
  idleTimeoutSeconds: seconds.optional().describe('Seconds without a byte of an answer. Default: 15'),
  timeoutSeconds: seconds.optional().describe('Seconds for a whole answer. Default: 120'),
});

export type HttpConfig = z.infer<typeof httpConfig>;
export type HttpEntry = z.infer<typeof entry>;

export interface HttpOptions extends HttpConfig {
  /** The name of the mount in logs. Default: `http`. */
  readonly name?: string;
  /** The directory that paths of OpenAPI documents start from. Default: the working directory. */
  readonly base?: string | undefined;
  /** Certificates of authorities in PEM, instead of those that Node.js knows. */
  readonly ca?: string | undefined;
  /** Resolves host names. Its addresses are checked like any others. Default: the resolver of the system. */
  readonly resolve?: Resolve | undefined;
  readonly log?: Log | undefined;
}

/** The options after `limitsOf` has filled in the defaults; times in milliseconds. */
export interface Limits {
  readonly watch: boolean;
  readonly pollMs: number;
  readonly head: boolean;
  readonly ttlMs: number;
  readonly cacheBytes: number;
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly maxConnections: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly timeoutMs: number;
}

export const limitsOf = (options: Partial<HttpConfig>): Limits => ({
  watch: options.watch ?? true,
  pollMs: (options.pollSeconds ?? 60) * 1_000,
  head: options.head ?? true,
  ttlMs: (options.ttlSeconds ?? 0) * 1_000,
  cacheBytes: options.cacheBytes ?? 16 * 1024 * 1024,
  maxBytes: options.maxBytes ?? 64 * 1024 * 1024,
  maxRedirects: options.maxRedirects ?? 5,
  maxConnections: options.maxConnections ?? 8,
  connectTimeoutMs: (options.connectTimeoutSeconds ?? 5) * 1_000,
  headersTimeoutMs: (options.headersTimeoutSeconds ?? 15) * 1_000,
  idleTimeoutMs: (options.idleTimeoutSeconds ?? 15) * 1_000,
  timeoutMs: (options.timeoutSeconds ?? 120) * 1_000,
});
