/** The `read` tool: the content of a resource in one of three forms, or in the one that fits (CB-3 to CB-6). */
import { z } from 'zod';
import type { Tool } from '../../core/tool.ts';
import { resourceTool } from './define.ts';
import { FORMS } from './reading/forms.ts';
import { readAndKeep } from './reading/kept.ts';
import { MIN_WINDOW_BYTES } from './reading/window.ts';
import { uriArgument } from './schemas.ts';
import type { ToolSetup } from './setup.ts';

const inputFor = ({ resources, outputBytes }: ToolSetup) =>
  z.strictObject({
    uri: uriArgument.describe('The resource, or lines of it as in docs+file:///a.md#L10-L20'),
    as: z
      .enum(FORMS)
      .optional()
      .describe(
        'embedded: whole, with URI and metadata. plain: whole, only the text, image or sound. window: a range of bytes, for what is large. Left out: whole where it is small, else the first window',
      ),
    format: z
      .string()
      .min(3)
      .max(256)
      .optional()
      .describe(
        'The MIME type to read it in, of those that describe tells. Left out: a document as text in Markdown, everything else as it is',
      ),
    start_offset: z.number().int().nonnegative().optional().describe('First byte of the window. Default: 0'),
    max_bytes: z
      .number()
      .int()
      .min(MIN_WINDOW_BYTES)
      .max(resources.limits.maxReadBytes)
      .optional()
      .describe(`Most bytes of the window. Default: what fits ${outputBytes} bytes of output`),
  });

/**
 * It declares no output schema, since only a window has structured content: a schema would oblige the other forms to
 * have some too, and hosts that get structured content show their model nothing else (`docs/guide/tools.md`).
 */
export function readTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'read',
    title: 'Read a resource',
    description:
      'Reads a resource by its URI. Leave out everything else at first: what is small comes whole, images and sounds as such, and of what is large the first window, with the call for the next one. Of a directory it shows the children that fit; use list to see all of them. Offsets and sizes are bytes; characters are never split.',
    changes: 'nothing',
    inputSchema: inputFor(setup),
    run: (args, invocation) => readAndKeep(setup, args, invocation),
  });
}
