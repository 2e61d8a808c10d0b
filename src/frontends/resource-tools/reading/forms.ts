/** The forms of a read: whole and embedded, whole and plain, a window, or the form that fits (CB-3 to CB-6). */
import type { Context } from '../../../core/context.ts';
import { invalid } from '../../../core/errors.ts';
import { formatsOf, textFirst } from '../../../core/formats/formats.ts';
import { type CallToolResult, type ContentBlock, text } from '../../../protocol/content.ts';
import { ACCEPT_META_KEY } from '../../../protocol/meta.ts';
import type { Resource, ResourceContents } from '../../../protocol/resources.ts';
import { windowIn } from '../../../protocol/window.ts';
import { contentsOf } from '../../resources/encode.ts';
import { splitLines } from '../../resources/line-uri.ts';
import { readMetadata } from '../../resources/metadata.ts';
import { readConfirmed } from '../../resources/read.ts';
import { describe } from '../describe.ts';
import { base64Length, isContainer } from '../facts.ts';
import type { ToolSetup } from '../setup.ts';
import { type BlockForm, blocksOf, encodedSize, isMediaType, itemOf } from './blocks.ts';
import { directoryBlocks } from './directory.ts';
import { readSlice } from './slice.ts';
import { readWindow, windowLimits, windowOf } from './window.ts';
import { nextText, windowResult } from './window-result.ts';

export const FORMS = ['embedded', 'plain', 'window'] as const;

export interface ReadArguments {
  readonly uri: string;
  /** Default: the whole, embedded, if it fits the output budget; else the first window. */
  readonly as?: (typeof FORMS)[number] | undefined;
  /** The wanted format, as a MIME type. Default: text for a document, else the resource's own type. */
  readonly format?: string | undefined;
  readonly start_offset?: number | undefined;
  readonly max_bytes?: number | undefined;
}

/** Reads in the requested form. A read that needs a confirmation is refused, since only the caller can ask for it. */
export async function readAs(setup: ToolSetup, args: ReadArguments, ctx: Context): Promise<CallToolResult> {
  const { uri, as, start_offset, max_bytes } = args;
  if (max_bytes === 0) return withoutContent(setup, args, ctx);
  if (splitLines(uri).lines !== undefined) return linesAs(setup, args, ctx);
  const { resource: described } = await readMetadata(setup.resources, { uri }, { ...ctx, purpose: 'read' });
  const resource = { ...described, uri };
  const accept = acceptOf(args, described);
  const windowed = start_offset !== undefined || max_bytes !== undefined;
  if (as === 'window' || (as === undefined && windowed)) {
    const limits = windowLimits(setup, max_bytes);
    const window = await readWindow(setup, resource, start_offset ?? 0, limits, ctx, accept ?? ownFormat(described));
    return windowResult(setup, uri, window, args.format);
  }
  if (windowed)
    return {
      content: await windowBlocks(setup, resource, args, accept ?? ownFormat(described), as ?? 'embedded', ctx),
    };
  return as === undefined
    ? readFitting(setup, resource, accept, args.format, ctx)
    : { content: await wholeBlocks(setup, resource, accept, as, ctx) };
}

/** Describes the resource, with an empty window. */
async function withoutContent(
  setup: ToolSetup,
  { uri, start_offset }: ReadArguments,
  ctx: Context,
): Promise<CallToolResult> {
  const { content, structuredContent } = await describe(setup, uri, ctx);
  const window = { start_offset: start_offset ?? 0, max_bytes: 0 };
  return { content, structuredContent: { ...structuredContent, window, parts: [] } };
}

/** The requested format; else text first, if that reads better; else undefined, for the resource as it is. */
function acceptOf({ format }: ReadArguments, resource: Resource): Accept {
  if (format !== undefined) return [format];
  return textFirst(resource);
}

/** The resource's own format, for a window if none was requested: offsets count the bytes of one format. */
const ownFormat = (resource: Resource): Accept =>
  formatsOf(resource)
    ?.slice(0, 1)
    .map(({ mimeType }) => mimeType);

type Accept = readonly string[] | undefined;

const readParams = (uri: string, accept: Accept) => ({
  uri,
  ...(accept !== undefined && { _meta: { [ACCEPT_META_KEY]: [...accept] } }),
});

/** Reads the whole, up to the limit of a read. */
async function wholeBlocks(
  setup: ToolSetup,
  resource: Resource,
  accept: Accept,
  form: BlockForm,
  ctx: Context,
): Promise<ContentBlock[]> {
  const { resources } = setup;
  if (isContainer(resource))
    return directoryBlocks(setup, resource, form, base64Length(resources.limits.maxReadBytes), ctx);
  const { contents } = await readConfirmed(resources, readParams(resource.uri, accept), ctx);
  return contents.flatMap((item) => blocksOf(item, { form, named: contents.length > 1 }));
}

/** Reads a window of a resource that is one content, as blocks. */
async function windowBlocks(
  setup: ToolSetup,
  resource: Resource,
  { start_offset = 0, max_bytes, format }: ReadArguments,
  accept: Accept,
  form: 'embedded' | 'plain',
  ctx: Context,
): Promise<ContentBlock[]> {
  const window = await readWindow(setup, resource, start_offset, windowLimits(setup, max_bytes), ctx, accept);
  const [part] = window.parts;
  if (part === undefined || window.totalParts > 1 || isContainer(resource))
    throw invalid('start_offset and max_bytes go over several parts here; read with as: "window"', resource.uri);
  const note = nextText(setup, resource.uri, window, form, format);
  const blocks = blocksOf(itemOf(part, window), { form, note });
  return form === 'plain' ? [...blocks, text(note)] : blocks;
}

/** Reads without a requested form: the whole if it fits the output budget, images and sounds always whole, else the first window. */
async function readFitting(
  setup: ToolSetup,
  resource: Resource,
  accept: Accept,
  format: string | undefined,
  ctx: Context,
): Promise<CallToolResult> {
  const { resources, outputBytes } = setup;
  if (isContainer(resource)) return { content: await directoryBlocks(setup, resource, 'fitting', outputBytes, ctx) };
  const slice = await readSlice(resources, resource.uri, 0, outputBytes, ctx, accept);
  if (slice === undefined) return severalFitting(setup, resource, ctx);
  const item = slice.ended ? contentsOf(slice.resource, slice.bytes) : undefined;
  if (item !== undefined && encodedSize(item) <= outputBytes) return fitting([item]);
  if (isMediaType(slice.resource.mimeType))
    return { content: await wholeBlocks(setup, resource, accept, 'fitting', ctx) };
  return windowResult(setup, resource.uri, windowOf(slice, windowLimits(setup, undefined)), format);
}

/** Reads a resource that has several contents: all of them if they fit, else the first window of its own format. */
async function severalFitting(setup: ToolSetup, resource: Resource, ctx: Context): Promise<CallToolResult> {
  const limits = windowLimits(setup, undefined);
  const window = await readWindow(setup, resource, 0, { text: limits.text, base64: limits.text }, ctx);
  const items = window.parts.map(({ resource: part, bytes }) => contentsOf(part, bytes));
  const size = items.reduce((sum, item) => sum + encodedSize(item), 0);
  if (window.next === undefined && size <= setup.outputBytes) return fitting(items);
  return windowResult(setup, resource.uri, await readWindow(setup, resource, 0, limits, ctx, ownFormat(resource)));
}

const fitting = (items: readonly ResourceContents[]): CallToolResult => ({
  content: items.flatMap((item) => blocksOf(item, { form: 'fitting' })),
});

/** Reads lines of a text, which search names as `…#L10-L20`. Lines that do not fit the output budget are given as a window. */
async function linesAs(setup: ToolSetup, args: ReadArguments, ctx: Context): Promise<CallToolResult> {
  const { uri, as, start_offset, max_bytes, format } = args;
  if (start_offset !== undefined || max_bytes !== undefined)
    throw invalid('The URI names lines already; leave out start_offset and max_bytes, or leave out the lines', uri);
  const accept = format === undefined ? undefined : [format];
  const [item] = (await readConfirmed(setup.resources, readParams(uri, accept), ctx)).contents;
  if (item === undefined) throw invalid('There are no such lines', uri);
  if (as !== 'window' && (as !== undefined || encodedSize(item) <= setup.outputBytes))
    return { content: blocksOf(item, { form: as ?? 'fitting' }) };
  const { offset, length } = windowIn(item) ?? {
    offset: 0,
    length: Buffer.byteLength('text' in item ? item.text : ''),
  };
  const resource = { ...item, uri: splitLines(uri).resource };
  const { text: most, base64 } = windowLimits(setup, undefined);
  const limits = { text: Math.min(most, length), base64: Math.min(base64, length) };
  // The offset counts bytes of the format that has the lines, so the window is of that format, too.
  const ofLines = format ?? (formatsOf(item) === undefined ? undefined : item.mimeType);
  const window = await readWindow(setup, resource, offset, limits, ctx, ofLines === undefined ? undefined : [ofLines]);
  return windowResult(setup, resource.uri, window, ofLines);
}
