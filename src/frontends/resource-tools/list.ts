/** The `list` tool lists the resources of all mounts, or of a part of them (CB-2). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { Mount } from '../../core/mounts/mount.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { Tool } from '../../core/tool.ts';
import { type CallToolResult, text } from '../../protocol/content.ts';
import type { Resource } from '../../protocol/resources.ts';
import { listedPage } from '../resources/list.ts';
import { nextCursor, openCursor, type ResourceOptions, scopeOf } from '../resources/options.ts';
import { resourceTool } from './define.ts';
import { lineOf } from './facts.ts';
import { endOfPage, missingOutput, sayMissing } from './missing.ts';
import { type NotedBatch, pageFor } from './paging.ts';
import { cursorArgument, mountArgument, nextCursorOutput, resourceOutput, seenMount, uriArgument } from './schemas.ts';
import { callOf, type ToolSetup } from './setup.ts';

const inputFor = (setup: ToolSetup) =>
  z.strictObject({
    uri: uriArgument.optional().describe('A directory, for its children. Default: everything, level by level'),
    mount: mountArgument(setup).optional(),
    prefix: uriArgument.optional().describe('Only URIs that begin with it'),
    cursor: cursorArgument.optional(),
  });

type Arguments = z.infer<ReturnType<typeof inputFor>>;

const output = z.object({
  resources: z.array(resourceOutput),
  nextCursor: nextCursorOutput,
  truncatedBy: z.string().optional(),
  missing: missingOutput,
});

export function listTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'list',
    title: 'List resources',
    description:
      'Lists resources with URI, type and size: the place to start. Then read one, or list a directory by its uri. Where you know words and not places, use search.',
    changes: 'nothing',
    inputSchema: inputFor(setup),
    outputSchema: output,
    run: (args, ctx) => list(setup, args, ctx),
  });
}

async function list(setup: ToolSetup, args: Arguments, ctx: Context): Promise<CallToolResult> {
  const { cursor, ...filters } = args;
  const { uri, prefix } = filters;
  const mount = mountOf(setup, args, ctx);
  const { resources: options } = setup;
  const scope = scopeOf(ctx, 'list tool', JSON.stringify([uri ?? null, mount?.name ?? null, prefix ?? null]));
  const walked = walkedOptions(setup, mount, prefix);
  return pageFor<Resource>(setup, {
    ctx,
    position: openCursor(options, cursor, scope),
    accept: prefix === undefined ? undefined : (resource) => resource.uri.startsWith(prefix),
    async fetch(position, pageSize, noted) {
      const limits = { ...walked.limits, pageSize };
      const { resources: items, ...rest } = await listedPage({ ...walked, limits }, uri, position, noted);
      return { items, ...rest };
    },
    render(batch) {
      const next = nextCursor(options, batch.position, scope);
      return {
        content: [text([...batch.items.map(lineOf), lastLine(setup, filters, batch, next.nextCursor)].join('\n'))],
        structuredContent: {
          resources: batch.items.map(withoutIcons),
          ...next,
          ...(batch.truncatedBy !== undefined && { truncatedBy: batch.truncatedBy }),
        },
      };
    },
  });
}

function mountOf(setup: ToolSetup, { mount: name, uri }: Arguments, ctx: Context): Mount | undefined {
  if (name === undefined) return undefined;
  const mount = seenMount(setup, name, ctx);
  if (uri !== undefined && setup.resolver.resolve(uri)?.mount !== mount)
    throw invalid(`This URI is not of the mount ${name}; leave out mount`, uri);
  return mount;
}

/**
 * The options of the walk. With a mount, the walk begins at the roots of that mount. With a prefix, `maxListed` does not
 * apply: it is meant for pickers that show the whole list, and would count entries that the prefix hides.
 */
function walkedOptions(setup: ToolSetup, mount: Mount | undefined, prefix: string | undefined): ResourceOptions {
  const { provider, limits } = setup.resources;
  return {
    ...setup.resources,
    provider: mount === undefined ? provider : withRootsOf(setup, provider, mount),
    limits: prefix === undefined ? limits : { ...limits, maxListed: Number.MAX_SAFE_INTEGER },
  };
}

function withRootsOf({ resolver }: ToolSetup, provider: ResourceProvider, mount: Mount): ResourceProvider {
  return wrapProvider(provider, {
    async list(uri, page, ctx) {
      const listed = await provider.list(uri, page, ctx);
      if (uri !== undefined) return listed;
      return {
        ...listed,
        resources: listed.resources.filter((root) => resolver.resolve(root.uri)?.mount === mount),
      };
    },
  });
}

/** Leaves icons out: a model cannot see them, and they can be long. `describe` gives them. */
function withoutIcons({ icons: _icons, ...resource }: Resource): Resource {
  return resource;
}

function lastLine(
  setup: ToolSetup,
  filters: Omit<Arguments, 'cursor'>,
  { items, truncatedBy, missing }: NotedBatch<Resource>,
  cursor: string | undefined,
): string {
  const count = items.length === 1 ? '1 entry' : `${items.length} entries`;
  const more = cursor === undefined ? undefined : callOf(setup, 'list', { ...filters, cursor });
  if (more !== undefined || truncatedBy === undefined) return endOfPage(count, missing, more);
  const cut = `${count}. The list ends here by its limit ${truncatedBy}, and there is more: list a directory by its uri.`;
  const said = sayMissing(missing);
  return said === undefined ? cut : `${cut} ${said}`;
}
