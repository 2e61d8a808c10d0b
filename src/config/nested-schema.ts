/** The `nested` of a folder: which of its files can be gone into. */
import { z } from 'zod';

export const NESTED_KINDS = ['zip', 'tar', 'sqlite'] as const;

export const nestedConfig = z
  .union([z.enum(['on', 'off']), z.array(z.enum(NESTED_KINDS)).min(1).max(NESTED_KINDS.length)])
  .optional()
  .describe('Goes into archives and SQLite files: on, off, or a list of zip, tar and sqlite. Default: off');

export type NestedConfig = z.infer<typeof nestedConfig>;
