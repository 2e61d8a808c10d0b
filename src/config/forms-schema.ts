/** The schema of `forms` in a `vitrine.yaml`: the other formats of what is read. */
import { z } from 'zod';

const MIB = 1024 * 1024;
const bytes = (least: number, most: number) => z.number().int().min(least).max(most);

export const formsConfig = z.union([
  z.enum(['on', 'off']),
  z.strictObject({
    except: z
      .array(z.string().min(1).max(256))
      .max(100)
      .optional()
      .describe('MIME types, or ranges of them as application/*, that have no other forms. Default: none'),
    originalBytes: bytes(0, 1024 * MIB)
      .optional()
      .describe('Bytes up to which a read gives a document beside its text. Default: 1048576'),
    maxInputBytes: bytes(1_024, 1024 * MIB)
      .optional()
      .describe('Bytes of a resource that is converted. Default: 33554432'),
    maxOutputBytes: bytes(1_024, 1024 * MIB)
      .optional()
      .describe('Bytes of a form. Default: 8388608'),
    maxUnpackedBytes: bytes(1_024, 4096 * MIB)
      .optional()
      .describe('Bytes of the files in a document that is an archive. Default: 67108864'),
    maxMemoryBytes: bytes(128 * MIB, 65_536 * MIB)
      .optional()
      .describe('Bytes of memory of a process that converts. Default: 536870912'),
    timeoutSeconds: z.number().positive().max(600).optional().describe('Seconds for one conversion. Default: 20'),
    maxConcurrent: z.number().int().min(1).max(64).optional().describe('Conversions at a time. Default: 2'),
    maxWaiting: z.number().int().min(0).max(10_000).optional().describe('Conversions that wait. Default: 64'),
    cacheBytes: bytes(1_024, 1024 * MIB)
      .optional()
      .describe('Bytes of forms that are kept. Default: 33554432'),
  }),
]);
