/** What may be said of every mount, whatever is mounted. */
import { z } from 'zod';

export const iconConfig = z.strictObject({
  src: z.string().min(1).describe('An https: or data: URI'),
  mimeType: z.string().optional(),
  // SEP-973's text has a plain string; the adopted schema an array (973-3).
  sizes: z
    .union([z.array(z.string()), z.string().transform((sizes) => sizes.split(/\s+/).filter(Boolean))])
    .optional()
    .describe('"48x48", "any", or a list of them'),
  theme: z.enum(['light', 'dark']).optional(),
});

export const everyMount = {
  icons: z.array(iconConfig).max(16).optional().describe('Icons of its folders and templates'),
  forms: z
    .enum(['on', 'off'])
    .optional()
    .describe('off: what it has is given as it is. Default: on, and off for other servers'),
  prefix: z.enum(['name', 'none']).optional().describe('none: publish the URIs of the source as they are'),
};
