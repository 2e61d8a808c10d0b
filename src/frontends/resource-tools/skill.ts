/** The `skill` tool lists and gets skills for hosts that give their model only tools. It is offered only if there are skills. */
import { z } from 'zod';
import type { Context } from '../../core/context.ts';
import type { ServedSkill } from '../../core/operations.ts';
import type { Tool } from '../../core/tool.ts';
import { type CallToolResult, text } from '../../protocol/content.ts';
import { DYNAMIC } from '../../protocol/skills.ts';
import { nextCursor, openCursor, scopeOf } from '../resources/options.ts';
import { readConfirmed } from '../resources/read.ts';
import { resourceTool } from './define.ts';
import { oneLine } from './facts.ts';
import { endOfPage } from './missing.ts';
import { pageFor } from './paging.ts';
import { cursorArgument, uriArgument } from './schemas.ts';
import { callOf, type ToolSetup } from './setup.ts';

const input = z.strictObject({
  uri: uriArgument.describe('Gets this skill, by the URI of its SKILL.md. Left out: lists skills').optional(),
  cursor: cursorArgument.optional(),
});

/** The most links to files in one answer; a manifest may have more. */
const MAX_LINKS = 100;

export function skillTool(setup: ToolSetup): Tool {
  return {
    ...resourceTool(setup, {
      name: 'skill',
      title: 'Skills',
      description:
        'Lists skills, which are instructions for certain tasks, by name and description. With a URI, returns the instructions of one, and links to its files.',
      changes: 'nothing',
      inputSchema: input,
      run: ({ uri, cursor }, ctx) => (uri === undefined ? listSkills(setup, cursor, ctx) : getSkill(setup, uri, ctx)),
    }),
    offeredTo: () => setup.hasSkills?.() === true,
  };
}

function listSkills(setup: ToolSetup, cursor: string | undefined, ctx: Context): Promise<CallToolResult> {
  const { resources: options, operations } = setup;
  const scope = scopeOf(ctx, 'skill tool');
  return pageFor<ServedSkill>(setup, {
    ctx,
    position: openCursor(options, cursor, scope),
    accept: undefined,
    async fetch(position, limit, noted) {
      const { items, nextCursor: next } = await operations.listSkills({ cursor: position, limit }, noted);
      return { items, position: next };
    },
    render({ items, position, missing }) {
      const lines = items.map(({ skill: { uri, frontmatter } }) => oneLine(`${uri}  ${frontmatter.description}`));
      const { nextCursor: next } = nextCursor(options, position, scope);
      const count = items.length === 1 ? '1 skill' : `${items.length} skills`;
      const more = next === undefined ? undefined : callOf(setup, 'skill', { cursor: next });
      return { content: [text([...lines, endOfPage(count, missing, more)].join('\n'))] };
    },
  });
}

/** Returns the instructions, unless they are too long, and links to the other files. */
async function getSkill(setup: ToolSetup, uri: string, ctx: Context): Promise<CallToolResult> {
  const { skill, files } = await setup.operations.getSkill(uri, ctx);
  const { contents } = await readConfirmed(setup.resources, { uri: skill.uri }, ctx);
  const manifest = skill.resources === DYNAMIC ? [] : skill.resources;
  const others = manifest.filter((file) => file.uri !== skill.uri);
  const head = contents.filter((item) => sizeOf(item) <= setup.outputBytes);
  const long = head.length < contents.length ? ` It is long: ${callOf(setup, 'read', { uri: skill.uri })}` : '';
  const left = others.length > MAX_LINKS ? `, of which ${MAX_LINKS} are linked` : '';
  const count =
    skill.resources === DYNAMIC
      ? 'Its files are generated when they are read'
      : `${others.length === 1 ? '1 other file' : `${others.length} other files`}${left}`;
  return {
    content: [
      text(`Skill ${skill.frontmatter.name}. ${count}.${long}`),
      ...head.map((resource) => ({ type: 'resource' as const, resource })),
      ...others.slice(0, MAX_LINKS).map(({ uri: file, size }) => {
        const mimeType = files.get(file)?.mimeType;
        const name = file.slice(skill.uri.lastIndexOf('/') + 1);
        return {
          type: 'resource_link' as const,
          uri: file,
          name,
          size,
          ...(mimeType !== undefined && { mimeType }),
        };
      }),
    ],
  };
}

const sizeOf = (item: object): number =>
  Buffer.byteLength('text' in item ? String(item.text) : 'blob' in item ? String(item.blob) : '');
