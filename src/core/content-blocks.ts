/** Makes the blocks of tool results and prompt messages. A block of a resource has no annotations; they go to the resource (2093-9). */
import type {
  AudioContent,
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  GetPromptResult,
  ImageContent,
  ResourceLink,
  TextContent,
} from '../protocol/content.ts';
import type { Annotations, Resource, ResourceContents } from '../protocol/resources.ts';
import { nameOfUri } from './uri.ts';

/** The fields that any block may carry beside its content. */
export interface BlockExtras {
  readonly annotations?: Annotations;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Bytes, or text that is base64 already. */
export type BinaryData = Uint8Array | string;

const base64 = (data: BinaryData): string =>
  typeof data === 'string' ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');

export function textBlock(text: string, extras: BlockExtras = {}): TextContent {
  return { type: 'text', text, ...extras };
}

export function imageBlock(data: BinaryData, mimeType: string, extras: BlockExtras = {}): ImageContent {
  return { type: 'image', data: base64(data), mimeType, ...extras };
}

export function audioBlock(data: BinaryData, mimeType: string, extras: BlockExtras = {}): AudioContent {
  return { type: 'audio', data: base64(data), mimeType, ...extras };
}

/** A resource to put into a block: `name` may be left out, and bytes need not be base64. */
export type EmbeddedContents = Partial<Omit<Resource, 'uri'>> & { readonly uri: string } & (
    | { readonly text: string }
    | { readonly blob: BinaryData }
  );

/**
 * Makes a block of a resource. `annotations` in `extras` are sent as those of the resource, never of the block (2093-9).
 */
export function resourceBlock(resource: EmbeddedContents, extras: BlockExtras = {}): EmbeddedResource {
  const { annotations, ...rest } = extras;
  const name = resource.name ?? nameOfUri(resource.uri) ?? resource.uri;
  const content = 'blob' in resource ? { ...resource, name, blob: base64(resource.blob) } : { ...resource, name };
  return withResourceAnnotations({ type: 'resource', resource: content, ...rest }, annotations);
}

/** Makes a link to a resource, which the client may read. */
export function linkBlock(resource: Resource): ResourceLink {
  return { ...resource, type: 'resource_link' };
}

/** Returns a tool's result ready to be sent: blocks of resources have no annotations of their own (2093-9). */
export function sendableResult(result: CallToolResult): CallToolResult {
  return result.content.some(hasOwnAnnotations) ? { ...result, content: result.content.map(sendableBlock) } : result;
}

/** Does the same for a prompt. */
export function sendablePrompt(result: GetPromptResult): GetPromptResult {
  if (!result.messages.some((message) => hasOwnAnnotations(message.content))) return result;
  const messages = result.messages.map((message) => ({ ...message, content: sendableBlock(message.content) }));
  return { ...result, messages };
}

type Annotated = EmbeddedResource & { readonly annotations?: Annotations };

const hasOwnAnnotations = (block: ContentBlock): boolean => block.type === 'resource' && 'annotations' in block;

/** Returns a block as it may be sent. */
export function sendableBlock(block: ContentBlock): ContentBlock {
  if (block.type !== 'resource') return block;
  const { annotations, ...rest } = block as Annotated;
  return withResourceAnnotations(rest, annotations);
}

/** Adds annotations to the resource in a block. The resource's own annotations take precedence. */
function withResourceAnnotations(block: EmbeddedResource, annotations: Annotations | undefined): EmbeddedResource {
  if (annotations === undefined) return block;
  const resource: ResourceContents = {
    ...block.resource,
    annotations: { ...annotations, ...block.resource.annotations },
  };
  return { ...block, resource };
}
