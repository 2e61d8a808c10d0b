/** The schema of `answers` in a `vitrine.yaml`: where processes share answers that are the same for every caller. */
import { z } from 'zod';

const MIB = 1024 * 1024;

const maxBytes = z
  .number()
  .int()
  .min(MIB)
  .max(1024 * 1024 * MIB)
  .optional();

const LEAST_USED = 'what was used longest ago makes room. Default:';

export const answersConfig = z.union([
  z.enum(['bus', 'off']),
  z.strictObject({
    folder: z.string().min(1).describe("Vitrine's alone; made for this user only. Processes and machines may share it"),
    maxBytes: maxBytes.describe(`Bytes of its files; ${LEAST_USED} 1073741824`),
  }),
  z.strictObject({
    bus: z.literal(true).describe('In the memory of the bus'),
    maxBytes: maxBytes.describe(`Bytes of it; ${LEAST_USED} 67108864`),
  }),
]);
