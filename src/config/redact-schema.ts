/** The schema of `redact` in a `vitrine.yaml`: how secrets in contents are found and covered. */
import { z } from 'zod';
import { globConfig } from '../core/glob/config.ts';

const globs = z.array(globConfig('uri')).max(1_000);

export const redactConfig = z.union([
  z.enum(['on', 'off']),
  z.strictObject({
    uris: globs.min(1).optional().describe('Globs over URIs: only these are searched for secrets. Default: all'),
    except: globs.optional().describe('Globs over URIs that are not searched for secrets. Default: none'),
    action: z
      .enum(['redact', 'refuse'])
      .optional()
      .describe('redact: secrets are covered; refuse: contents with a secret are not given. Default: redact'),
    maxBytes: z
      .number()
      .int()
      .min(65_536)
      .max(64 * 1024 * 1024)
      .optional()
      .describe(
        'The most bytes that are searched at once; larger contents are given only in windows. Default: 8388608',
      ),
  }),
]);
