/** Shows a directory as blocks: the children that fit, and lines for the others (2093-5). */
import { collectRange } from '../../../core/collect.ts';
import type { Context } from '../../../core/context.ts';
import { type ContentBlock, text } from '../../../protocol/content.ts';
import type { Resource, ResourceContents } from '../../../protocol/resources.ts';
import { contentsOf } from '../../resources/encode.ts';
import { listedPage } from '../../resources/list.ts';
import { withBodies } from '../../resources/read.ts';
import { isContainer, lineOf, oneLine } from '../facts.ts';
import { callOf, type ToolSetup } from '../setup.ts';
import { type BlockForm, blocksOf, encodedSize } from './blocks.ts';

/** Room that is kept for the lines around the children, in bytes. */
const LINES_BYTES = 1_000;

/** Bytes of the headline of a child, without its URI. */
const HEADLINE_BYTES = 100;

/**
 * @param budget bytes of all blocks together, with the children's content as text or base64; a child that does not fit is
 *   only named
 */
export async function directoryBlocks(
  setup: ToolSetup,
  { uri }: Resource,
  form: BlockForm,
  budget: number,
  ctx: Context,
): Promise<ContentBlock[]> {
  const { resources: children, position } = await listedPage(setup.resources, uri, undefined, ctx);
  const shown = await childrenThatFit(setup, uri, Math.max(0, budget - LINES_BYTES), ctx);
  const count = `${children.length}${position === undefined ? '' : ' or more'} entries`;
  const blocks = [
    text(oneLine(`${uri}: directory, ${count}, ${shown.length} shown here`)),
    ...shown.flatMap((item) => blocksOf(item, { form, named: true })),
  ];
  const used = shown.reduce((sum, item) => sum + costOf(item), LINES_BYTES);
  const names = new Set(shown.map((item) => item.uri));
  const rest = children.filter((resource) => !names.has(resource.uri));
  if (rest.length === 0 && position === undefined) return blocks;
  return [...blocks, restBlock(setup, uri, rest, budget - used + LINES_BYTES / 2)];
}

async function childrenThatFit(
  setup: ToolSetup,
  uri: string,
  budget: number,
  ctx: Context,
): Promise<readonly ResourceContents[]> {
  const maxBytes = Math.min(budget, setup.resources.limits.maxReadBytes);
  return withBodies(setup.resources, uri, { maxBytes }, ctx, async (bodies) => {
    const shown: ResourceContents[] = [];
    let room = budget;
    for (const { resource, content } of bodies) {
      if (isContainer(resource)) continue;
      const collected = await collectRange(content, undefined, room, ctx);
      if (collected === undefined) continue;
      const item = contentsOf(resource, collected.bytes);
      if (costOf(item) > room) continue;
      room -= costOf(item);
      shown.push(item);
    }
    return shown;
  });
}

const costOf = (item: ResourceContents): number => encodedSize(item) + item.uri.length + HEADLINE_BYTES;

/** Lines for children that are not shown, as many as there is room for, and the call that lists all. */
function restBlock(setup: ToolSetup, uri: string, rest: readonly Resource[], room: number): ContentBlock {
  const lines: string[] = [];
  let left = room;
  for (const line of rest.map(lineOf)) {
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  return text(['Not shown:', ...lines, `All of them: ${callOf(setup, 'list', { uri })}`].join('\n'));
}
