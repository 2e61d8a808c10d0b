/** The options of a database; each is documented in `docs/providers/sql.md`. */
import { z } from 'zod';
import { globConfig } from '../../core/glob/config.ts';

const count = z.number().int().positive();

const parameterConfig = z.strictObject({
  type: z
    .enum(['text', 'integer', 'number', 'boolean'])
    .default('text')
    .describe('The type of the bound value. Default: text'),
  description: z.string().min(1).optional(),
  default: z
    .union([z.string(), z.number(), z.boolean()])
    .optional()
    .describe('Used where the URI leaves it out. Without a default, the URI must give it'),
  values: z.array(z.string()).max(10_000).optional().describe('The allowed values, also suggested. Default: anything'),
  suggest: z.string().min(1).optional().describe('A query whose first column is suggested. Default: none'),
  maxLength: count.max(65_536).optional().describe('Characters. Default: 1024'),
});

export const queryConfig = z.strictObject({
  sql: z
    .string()
    .min(1)
    .max(100_000)
    .describe('One SELECT, with the placeholders of the database: ?1 (SQLite), $1 (PostgreSQL), ? (MySQL)'),
  parameters: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'has letters, digits and "_"'), parameterConfig)
    .optional()
    .describe('The values of its placeholders, in this order. Default: none'),
  title: z.string().min(1).optional(),
  description: z.string().min(1).optional(),
  maxRows: count.max(100_000).optional().describe('Rows of its result. Default: that of the mount'),
});

const watchConfig = z.strictObject({
  pollSeconds: z.number().min(0.1).max(86_400).default(2).describe('Seconds between checks for changes. Default: 2'),
  query: z.string().min(1).optional().describe('A query whose result changes with the data. Default: none'),
  channel: z.string().min(1).max(63).optional().describe('PostgreSQL: the channel of NOTIFY. Default: none'),
});

const names = z.array(globConfig('text')).max(10_000);

export const sqlConfig = z.strictObject({
  /** The path or URL of the database. Relative paths start from the configuration file, or the working directory. */
  sql: z.string().min(1).max(8_192).describe('A path, or a sqlite:, postgres: or mysql: URL'),
  tables: z
    .strictObject({
      include: names.optional().describe('Globs over table, or schema.table. Default: all'),
      exclude: names.optional().describe('Globs over tables that are left out. Default: none'),
    })
    .optional(),
  views: z.boolean().default(true).describe('Shows views. Default: true'),
  listRows: z.boolean().default(true).describe('Whether a table lists its rows. Default: true'),
  pageRows: count.max(10_000).default(100).describe('Rows of a page. Default: 100'),
  maxRows: count.max(100_000).default(1_000).describe('Rows of the result of a saved query. Default: 1000'),
  maxBytes: count.max(1_073_741_824).default(4_194_304).describe('Bytes of one page or row. Default: 4194304'),
  maxValueBytes: count
    .max(1_073_741_824)
    .default(65_536)
    .describe('Bytes of one value in a row; a larger one has its own URI. Default: 65536'),
  statementTimeoutSeconds: z.number().positive().max(86_400).default(10).describe('Seconds. Default: 10'),
  connections: count.max(100).optional().describe('Connections at a time. Default: 4; SQLite: 2 processes'),
  schemas: names.optional().describe('Schemas to show (PostgreSQL). Default: all readable ones'),
  labels: z
    .record(z.string().min(1), z.string().min(1))
    .optional()
    .describe('The column with the title of each row. Default: name, title, or the like'),
  queries: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/i, 'has letters, digits, "_" and "-"'), queryConfig)
    .optional()
    .describe('Saved queries by name. Default: none'),
  watch: z
    .union([z.literal(false), watchConfig])
    .optional()
    .describe('How changes are noticed; false turns it off'),
});

/** The options of a configuration, with their defaults. */
export type SqlConfig = z.infer<typeof sqlConfig>;
export type SqlInput = z.input<typeof sqlConfig>;
export type SavedQuery = z.infer<typeof queryConfig>;
export type QueryParameter = z.infer<typeof parameterConfig>;
