/** The schema of another MCP server that is mounted; each option is documented in `docs/providers/upstream.md`. */
import { z } from 'zod';
import { hasUser } from '../core/uri/user.ts';
import { AuthConfig } from '../providers/upstream/auth/config.ts';
import { everyMount } from './mount-schema.ts';
import { isUrl } from './references.ts';

const seconds = z.number().positive().max(86_400);
const noNul = /^[^\0]*$/;
const text = z.string().regex(noNul, 'has a NUL character in it');

const common = {
  start: z
    .enum(['eager', 'lazy'])
    .optional()
    .describe('lazy: it is started or reached when it is first needed. Default: eager'),
  connections: z
    .enum(['client', 'shared'])
    .optional()
    .describe('shared: one connection for all clients, on which the server cannot ask them. Default: client'),
  era: z
    .union([z.enum(['2025', '2026', 'auto']), z.literal(2025), z.literal(2026)])
    .optional()
    .describe(
      'The era in which it is spoken to. auto: 2026 if it can, but 2025 for clients that it can only ask in that era',
    ),
  maxConnections: z.number().int().positive().max(1_000).optional().describe('Connections of clients. Default: 32'),
  schemes: z
    .array(z.string().regex(/^[a-z][a-z0-9+.-]*$/, 'is no URI scheme, as in "file" or "memo"'))
    .min(1)
    .max(100)
    .optional()
    .describe('Schemes of its URIs, needed for prefix: none beside other mounts without a prefix. Default: any'),
  pins: z
    .union([z.enum(['on', 'off']), z.strictObject({ file: text.min(1) })])
    .optional()
    .describe('on: its tools and prompts are fixed at first sight, in a file. Default: off'),
  texts: z
    .enum(['as-is', 'clean'])
    .optional()
    .describe('clean: takes terminal escapes and invisible characters out of results. Default: as-is'),
  results: z
    .enum(['mark', 'refuse', 'as-is'])
    .optional()
    .describe('How results that break the outputSchema of their tool are given. Default: mark'),
  required: z.boolean().optional().describe('true: /readyz fails while it cannot be reached. Default: false'),
  connectTimeoutSeconds: seconds.optional().describe('Seconds for connecting. Default: 60; 300 for a program'),
  timeoutSeconds: seconds.optional().describe('Seconds for one answer. Default: 10'),
  callTimeoutSeconds: seconds.optional().describe("Seconds from a tool's latest report of progress. Default: 300"),
  maxMessageBytes: z
    .number()
    .int()
    .min(65_536)
    .max(268_435_456)
    .optional()
    .describe('Bytes of one message; a longer answer fails. Default: 16777216'),
  maxMessageValues: z
    .number()
    .int()
    .min(1_000)
    .max(10_000_000)
    .optional()
    .describe('Entries and fields in one message; an answer with more fails. Default: 200000'),
  maxMessagesPerSecond: z
    .number()
    .int()
    .min(10)
    .max(1_000_000)
    .optional()
    .describe('Messages that no request asked for; with more, it is disconnected for a while. Default: 1000'),
};

const command = text.min(1).describe('The program that speaks MCP over its standard input and output');
// For editors the schema is plain text, not a URL: they would report a reference to the environment as a mistake.
const url = z
  .string()
  .refine((address) => URL.canParse(address) && isUrl(address), 'is not an http: or https: URL')
  .refine((address) => !hasUser(address), 'has a user or a password in it; say them in headers or in auth')
  .describe('A Streamable HTTP endpoint');

const stdio = {
  args: z.array(text).max(1_000).optional(),
  env: z
    .record(z.string().regex(/^[^=\0]+$/, 'cannot be the name of an environment variable'), text)
    .optional()
    .describe('Added to a small safe part of the environment'),
  cwd: text.min(1).optional().describe('The folder that it starts in. Default: the folder of this file'),
};

const headers = z
  .record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'cannot be the name of a header'),
    z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has a character in it that a header cannot have'),
  )
  .optional()
  .describe('Sent with every request');

const http = { headers, auth: AuthConfig.optional() };

/** Whether at most one of `headers` and `auth` gives the Authorization: with both, it would be unclear which is sent. */
const authorizesOnce = ({
  headers: sent = {},
  auth,
}: {
  readonly headers?: object | undefined;
  readonly auth?: unknown;
}) => auth === undefined || !Object.keys(sent).some((name) => name.toLowerCase() === 'authorization');
const TWICE = { path: ['auth'], error: 'The headers have an Authorization too; remove one of the two' };

/** A mount that is a program. */
export const stdioMount = z.strictObject({ ...everyMount, command, ...stdio, ...common });
/** A mount that is an HTTP endpoint. */
export const httpMount = z.strictObject({ ...everyMount, url, ...http, ...common }).refine(authorizesOnce, TWICE);

export type UpstreamConfig = z.infer<typeof stdioMount> | z.infer<typeof httpMount>;

const SSE =
  'The transport "sse" was taken out of the protocol, and is not spoken here; ' +
  'most servers that had it answer to the type "http" too, often at /mcp';

const typeOf = (source: string, expected: readonly [string, ...string[]]) =>
  z
    .enum(expected, {
      error: ({ input }) => (input === 'sse' ? SSE : `An entry with ${source} has the type ${expected.join(' or ')}`),
    })
    .optional();

const everyEntry = {
  ...everyMount,
  ...common,
  disabled: z.boolean().optional().describe('true leaves it out'),
};

/** An entry of `mcpServers`, as hosts write it. Keys that only hosts understand are accepted and ignored. */
export const hostEntry = z.union([
  z.looseObject({ ...everyEntry, command, ...stdio, type: typeOf('a command', ['stdio']) }),
  z
    .looseObject({ ...everyEntry, url, ...http, type: typeOf('a url', ['http', 'streamable-http', 'streamableHttp']) })
    .refine(authorizesOnce, TWICE),
]);

export type HostEntry = z.infer<typeof hostEntry>;
