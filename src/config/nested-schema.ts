/** The schema of `nested`: which kinds of files and folders in a served folder are opened, so that clients can list inside them. */
import { z } from 'zod';

export const NESTED_KINDS = ['zip', 'tar', 'sqlite', 'git'] as const;

export const nestedConfig = z
  .union([z.enum(['on', 'off']), z.array(z.enum(NESTED_KINDS)).min(1).max(NESTED_KINDS.length)])
  .optional()
  .describe(
    'Goes into archives, SQLite files and git repositories: on, off, or a list of zip, tar, sqlite and git. Default: off',
  );

export type NestedConfig = z.infer<typeof nestedConfig>;
