/** The `list_templates` tool lists URI templates, with their variables as an input schema (CB-2). */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import type { Tool } from '../../core/tool.ts';
import { type CallToolResult, text } from '../../protocol/content.ts';
import type { ResourceTemplate } from '../../protocol/resources.ts';
import { nextCursor, openCursor, scopeOf } from '../resources/options.ts';
import { resourceTool } from './define.ts';
import { oneLine } from './facts.ts';
import { endOfPage, missingOutput } from './missing.ts';
import { pageFor } from './paging.ts';
import { cursorArgument, mountArgument, nextCursorOutput, seenMount } from './schemas.ts';
import { callOf, type ToolSetup } from './setup.ts';
import { templateInput } from './template-input.ts';

const inputFor = (setup: ToolSetup) =>
  z.strictObject({
    mount: mountArgument(setup).optional(),
    cursor: cursorArgument.optional(),
  });

type Arguments = z.infer<ReturnType<typeof inputFor>>;

const output = z.object({
  resourceTemplates: z.array(z.object({ uriTemplate: z.string() })),
  nextCursor: nextCursorOutput,
  missing: missingOutput,
});

export function listTemplatesTool(setup: ToolSetup): Tool {
  return resourceTool(setup, {
    name: 'list_templates',
    title: 'List URI templates',
    description:
      'Lists URI templates (RFC 6570) and their variables. Some resources are in no list: fill in the variables, percent-encoded, and read the URI.',
    changes: 'nothing',
    inputSchema: inputFor(setup),
    outputSchema: output,
    run: (args, ctx) => listTemplates(setup, args, ctx),
  });
}

async function listTemplates(
  setup: ToolSetup,
  { mount: name, cursor }: Arguments,
  ctx: Context,
): Promise<CallToolResult> {
  const { resources: options } = setup;
  const mount = name === undefined ? undefined : seenMount(setup, name, ctx);
  const scope = scopeOf(ctx, 'list_templates tool', name ?? '');
  return pageFor<ResourceTemplate>(setup, {
    ctx,
    position: openCursor(options, cursor, scope),
    accept:
      mount === undefined ? undefined : (template) => setup.resolver.resolve(template.uriTemplate)?.mount === mount,
    async fetch(position, limit, noted) {
      const page = await options.provider.listTemplates?.({ cursor: position, limit }, noted);
      return { items: page?.resourceTemplates ?? [], position: page?.nextCursor };
    },
    render({ items, position, missing }) {
      const next = nextCursor(options, position, scope);
      const args = { ...(name !== undefined && { mount: name }), cursor: next.nextCursor };
      const more = position === undefined ? undefined : callOf(setup, 'list_templates', args);
      const count = items.length === 1 ? '1 template' : `${items.length} templates`;
      return {
        content: [text([...items.map(lineOf), endOfPage(count, missing, more)].join('\n'))],
        structuredContent: { resourceTemplates: items.map(described), ...next },
      };
    },
  });
}

function lineOf(template: ResourceTemplate): string {
  const { title = template.name, description } = template;
  const properties = templateInput(template.uriTemplate)?.properties ?? {};
  const variables = Object.keys(properties).join(', ');
  return oneLine(
    `${template.uriTemplate}  ${title}${description === undefined ? '' : `: ${description}`}  variables: ${variables === '' ? 'none' : variables}`,
  );
}

function described({ icons: _icons, ...template }: ResourceTemplate): object {
  const inputSchema = templateInput(template.uriTemplate);
  return { ...template, ...(inputSchema !== undefined && { inputSchema }) };
}
