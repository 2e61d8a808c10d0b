/** The `describe` tool gives the metadata of one resource without its content (2093-2). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import { formatsOf } from '../../core/formats/formats.ts';
import { isBinaryType } from '../../core/text/text.ts';
import type { Tool } from '../../core/tool.ts';
import { type CallToolResult, text } from '../../protocol/content.ts';
import type { Resource } from '../../protocol/resources.ts';
import { splitLines } from '../resources/line-uri.ts';
import { readMetadata } from '../resources/metadata.ts';
import { resourceTool } from './define.ts';
import { bytesText, isContainer, kindText, oneLine, tokensOf } from './facts.ts';
import { resourceOutput, uriArgument } from './schemas.ts';
import { callOf, type ToolSetup } from './setup.ts';

const input = z.strictObject({ uri: uriArgument.describe('The resource') });
const output = z.object({ resource: resourceOutput });

export function describeTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'describe',
    title: 'Describe a resource',
    description:
      'Tells what a resource is without reading it: type, formats, size, its cost in tokens, when it changed. For what may be large.',
    changes: 'nothing',
    inputSchema: input,
    outputSchema: output,
    run: (args, ctx) => describe(setup, args.uri, ctx),
  });
}

/** Describes the resource, as lines and as `resource`. */
export async function describe(
  setup: ToolSetup,
  uri: string,
  ctx: Context,
): Promise<CallToolResult & { readonly structuredContent: { readonly resource: Resource } }> {
  const { resource } = await readMetadata(setup.resources, { uri: splitLines(uri).resource }, ctx);
  const next = isContainer(resource) ? 'list' : 'read';
  const lines = [...factsOf(resource).map(oneLine), `Next: ${callOf(setup, next, { uri: resource.uri })}`];
  return { content: [text(lines.join('\n'))], structuredContent: { resource } };
}

function factsOf(resource: Resource): string[] {
  const { uri, name, title, description, size, annotations, capabilities } = resource;
  return [
    uri,
    `name: ${name}`,
    ...(title === undefined ? [] : [`title: ${title}`]),
    ...(description === undefined ? [] : [`description: ${description}`]),
    `type: ${kindText(resource)}`,
    ...formatLines(resource),
    ...(size === undefined ? [] : [`size: ${bytesText(size)}, ${costText(resource, size)}`]),
    ...(annotations?.lastModified === undefined ? [] : [`last modified: ${annotations.lastModified}`]),
    ...(capabilities?.subscribe ? ['can be subscribed to'] : []),
  ];
}

/** A line with the formats in which `read` gives the resource, beside its own type. */
function formatLines(resource: Resource): string[] {
  const [, ...others] = formatsOf(resource) ?? [];
  return others.length === 0 ? [] : [`can also be read as: ${others.map(({ mimeType }) => mimeType).join(', ')}`];
}

function costText({ mimeType }: Resource, size: number): string {
  return isBinaryType(mimeType)
    ? `binary, about ${tokensOf('base64', size)} tokens as base64`
    : `about ${tokensOf('text', size)} tokens`;
}
