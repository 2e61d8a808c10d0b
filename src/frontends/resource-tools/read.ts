/** The `read` tool gives the content of a resource in one of three forms, or in the form that fits (CB-3 to CB-6). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { MAX_MOUNT_NAME_LENGTH, publishUri } from '../../core/mounts.ts';
import type { Tool } from '../../core/tool.ts';
import { resourceTool } from './define.ts';
import { FORMS, type ReadArguments } from './reading/forms.ts';
import { readAndKeep } from './reading/kept.ts';
import { MIN_WINDOW_BYTES } from './reading/window.ts';
import { seenMount, textArgument, uriArgument } from './schemas.ts';
import type { ToolSetup } from './setup.ts';

const NO_WINDOW = `0, for no content, or >=${MIN_WINDOW_BYTES}`;

const inputFor = ({ resources, outputBytes }: ToolSetup) =>
  z.strictObject({
    uri: uriArgument.describe('The resource, or lines of it: …#L10-L20'),
    server: textArgument(MAX_MOUNT_NAME_LENGTH)
      .optional()
      .describe('The mount that has the resource. Needed only if uri has no prefix of a mount'),
    as: z
      .enum(FORMS)
      .optional()
      .describe(
        'embedded: whole, with metadata. plain: whole, content alone. window: a range of bytes. Default: whole where small, else the first window',
      ),
    format: textArgument(256)
      .optional()
      .describe('A MIME type, of those that describe tells. Default: documents as Markdown, all else as it is'),
    start_offset: z.number().int().nonnegative().optional().describe('First byte of the window'),
    max_bytes: z
      .number()
      .int()
      .min(0, NO_WINDOW)
      .refine((bytes) => bytes === 0 || bytes >= MIN_WINDOW_BYTES, NO_WINDOW)
      .max(resources.limits.maxReadBytes)
      .optional()
      .describe(`Bytes of the window; 0: no content, only what it is. Default: ${outputBytes} of output`),
  });

/**
 * The tool declares no output schema, since only a window has structured content. A schema would oblige the other forms to
 * have structured content, too, and hosts that get it show their model nothing else (`docs/guide/tools.md`).
 */
export function readTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'read',
    title: 'Read a resource',
    description:
      'Reads a resource; uri is enough. What is small comes whole, of what is large the first window, with the call for the next. Of a directory, the children that fit.',
    changes: 'nothing',
    inputSchema: inputFor(setup),
    run: (args, invocation) => readAndKeep(setup, published(setup, args, invocation), invocation),
  });
}

/** With `server`, replaces the URI, as the mounted server names it, by the published URI. */
function published(
  setup: ToolSetup,
  { server, ...args }: ReadArguments & { readonly server?: string | undefined },
  ctx: Context,
): ReadArguments {
  if (server === undefined) return args;
  const mount = seenMount(setup, server, ctx);
  return setup.resolver.resolve(args.uri)?.mount === mount ? args : { ...args, uri: publishUri(mount, args.uri) };
}
