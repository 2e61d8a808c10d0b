/** The schema of `forms` in a `vitrine.yaml`: other formats that are made of resources when they are read. */
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
      .describe('MIME types, or ranges such as application/*, of which no other formats are made. Default: none'),
    originalBytes: bytes(0, 1024 * MIB)
      .optional()
      .describe('The most bytes of a document that a read gives beside its text. Default: 1048576'),
    maxInputBytes: bytes(1_024, 1024 * MIB)
      .optional()
      .describe('The most bytes of a resource that is converted. Default: 33554432'),
    maxOutputBytes: bytes(1_024, 1024 * MIB)
      .optional()
      .describe('The most bytes of a format. Default: 8388608'),
    maxUnpackedBytes: bytes(1_024, 4096 * MIB)
      .optional()
      .describe('The most bytes of all files in a document that is an archive. Default: 67108864'),
    maxMemoryBytes: bytes(128 * MIB, 65_536 * MIB)
      .optional()
      .describe('The most bytes of memory of a process that converts. Default: 536870912'),
    timeoutSeconds: z
      .number()
      .positive()
      .max(600)
      .optional()
      .describe('The most seconds for one conversion. Default: 20'),
    maxConcurrent: z.number().int().min(1).max(64).optional().describe('The most conversions at a time. Default: 2'),
    maxWaiting: z.number().int().min(0).max(10_000).optional().describe('The most conversions that wait. Default: 64'),
    cacheBytes: bytes(1_024, 1024 * MIB)
      .optional()
      .describe('The most bytes of formats that are kept. Default: 33554432'),
  }),
]);
