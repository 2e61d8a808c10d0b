/** The `read_embedded` tool: `read` in its embedded form, for hosts that prefer a tool for it (CB-4, CB-6). */
import { z } from 'zod';
import type { Tool } from '../../core/tool.ts';
import { resourceTool } from './define.ts';
import { readAs } from './reading/forms.ts';
import { uriArgument } from './schemas.ts';
import type { ToolSetup } from './setup.ts';

const input = z.strictObject({ uri: uriArgument.describe('The resource') });

export function readEmbeddedTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'read_embedded',
    title: 'Read a resource, embedded',
    description: `Reads a whole resource and gives each part as an embedded resource, with URI, type and metadata as they are. For small and middle-sized resources that are to be kept or shown with where they come from; ${setup.nameOf('read')} is better for looking at something large.`,
    changes: 'nothing',
    inputSchema: input,
    run: (args, invocation) => readAs(setup, { uri: args.uri, as: 'embedded' }, invocation),
  });
}
