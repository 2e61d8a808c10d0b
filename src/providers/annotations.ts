/** Annotations of a resource, as configurations write them. */
import { z } from 'zod';

export const annotationsConfig = z.strictObject({
  audience: z
    .array(z.enum(['user', 'assistant']))
    .max(2)
    .optional(),
  priority: z.number().min(0).max(1).optional(),
});
