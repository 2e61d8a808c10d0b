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
    description: `Reads a whole resource as embedded resources with URI and metadata, to keep or show. For a large resource, use ${setup.nameOf('read')}.`,
    changes: 'nothing',
    inputSchema: input,
    run: (args, invocation) => readAs(setup, { uri: args.uri, as: 'embedded' }, invocation),
  });
}
