/** The schema of `describe`, which describes resources; each key is documented in `docs/layers/describe.md`. */
import { z } from 'zod';
import { globConfig } from '../core/glob/config.ts';
import type { GlobSubject } from '../core/glob/index.ts';
import { iconConfig } from './mount-schema.ts';

const globs = (subject: GlobSubject) => z.array(globConfig(subject)).min(1).max(1_000);

const description = z.strictObject({
  uris: globs('uri').optional().describe('Globs over URIs, such as docs+file:///reports/**. Default: any'),
  mimeTypes: globs('text').optional().describe('Globs over MIME types, such as image/*. Default: any'),
  title: z.string().min(1).max(1_024).optional().describe('The title; may contain {name}, {stem} and {folder}'),
  description: z
    .string()
    .min(1)
    .max(8_192)
    .optional()
    .describe('The description; may contain {name}, {stem} and {folder}'),
  icons: z.array(iconConfig).max(16).optional().describe('Icons instead of those of the type'),
  audience: z
    .array(z.enum(['user', 'assistant']))
    .min(1)
    .max(2)
    .optional()
    .describe('The intended audience'),
  priority: z.number().min(0).max(1).optional().describe('From 0, entirely optional, to 1, effectively required'),
});

export const describeConfig = z.array(description).max(1_000);
