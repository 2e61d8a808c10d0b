/** The schema of the options that every mount has, whatever is mounted. */

import { z } from 'zod';
import { globConfig } from '../core/glob/config.ts';
import { isIconAddress, isImageType } from '../core/icons.ts';

export const iconConfig = z.strictObject({
  src: z
    .string()
    .min(1)
    .refine(isIconAddress, 'is an https: or http: URL without user, or an image in a data: URI')
    .describe('An https: or http: URL, or an image in a data: URI'),
  mimeType: z.string().refine(isImageType, 'is the type of an image, such as image/png').optional(),
  // SEP-973's text has a plain string; the adopted schema an array (973-3).
  sizes: z
    .union([z.array(z.string()), z.string().transform((sizes) => sizes.split(/\s+/).filter(Boolean))])
    .optional()
    .describe('"48x48", "any", or a list of them'),
  theme: z.enum(['light', 'dark']).optional(),
});

/** Whether the value gives the place of an index. Only the `index` at the top of the configuration may give one. */
const isPlace = (index: unknown): boolean =>
  typeof index === 'string' ? /[/\\:]/.test(index) : typeof index === 'object' && index !== null;

export const everyMount = {
  icons: z.array(iconConfig).max(16).optional().describe('Icons of its folders and templates'),
  forms: z
    .enum(['on', 'off'])
    .optional()
    .describe('off: no other formats are made of its resources. Default: on; off for other servers'),
  skills: z
    .union([z.enum(['on', 'off']), z.array(globConfig('path')).min(1).max(100)])
    .optional()
    .describe(
      'Which folders with a SKILL.md are skills: on, or globs of their paths. Default: off; on for those of other servers',
    ),
  index: z
    .enum(['on', 'off'], {
      error: ({ input }) =>
        isPlace(input)
          ? 'has to be on or off: there is one index for all mounts, and its place is said by `index` at the top'
          : undefined,
    })
    .optional()
    .describe('Whether the mount is in the index of ranked search. Default: as `index` at the top says'),
  prefix: z.enum(['name', 'none']).optional().describe('none: publish the URIs of the source as they are'),
};
