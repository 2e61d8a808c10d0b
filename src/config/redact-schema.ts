/** The schema of `redact` in a `vitrine.yaml`: secrets in what is read. */
import { z } from 'zod';
import { globConfig } from '../core/glob/config.ts';

const globs = z.array(globConfig('uri')).max(1_000);

export const redactConfig = z.union([
  z.enum(['on', 'off']),
  z.strictObject({
    uris: globs.min(1).optional().describe('Globs over URIs: only these are looked through. Default: all'),
    except: globs.optional().describe('Globs over URIs that are not looked through. Default: none'),
    action: z
      .enum(['redact', 'refuse'])
      .optional()
      .describe('redact: secrets are covered; refuse: what has one in it is not given. Default: redact'),
    maxBytes: z
      .number()
      .int()
      .min(65_536)
      .max(64 * 1024 * 1024)
      .optional()
      .describe('Bytes that are looked through at once; what is larger is given in windows only. Default: 8388608'),
  }),
]);
