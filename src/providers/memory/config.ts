/** The options of the memory provider in a configuration (`docs/providers/memory.md`). */
import { z } from 'zod';
import { annotationsConfig } from '../annotations.ts';

const literal = z.strictObject({
  text: z.string().describe('The content'),
  title: z.string().optional(),
  description: z.string().optional(),
  mimeType: z.string().min(1).optional().describe('Default: by the name'),
  annotations: annotationsConfig.optional().describe('The audience, and how important it is for them'),
});

export const memoryConfig = z.strictObject({
  resources: z
    .record(z.string().min(1), z.union([z.string(), literal]))
    .describe('Texts by path, as in guide/intro.md: the content, or a block with text'),
});

export type MemoryConfig = z.infer<typeof memoryConfig>;
