/** Resources in the results of tools and the messages of prompts: embedded ones, whose annotations moved (2093-9), and links. */
import type { Annotations, Resource } from '../protocol/resources.ts';
import { itemIn, type ReadItem } from './contents.ts';
import { invalidAnswer } from './errors.ts';
import type { Data } from './link.ts';

/** A content block with a resource in it, with whatever fields its sender gave it. */
export interface EmbeddedBlock {
  readonly type: 'resource';
  readonly resource: Data;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

export interface Embedded extends EmbeddedBlock {
  /** The contents, as a read gives them. */
  readonly item: ReadItem;
}

/**
 * A block that was received. Its annotations are in both places, whichever of them its sender knows: those of the resource
 * count where both have one (2093-9).
 * @throws ResourceClientError `invalid-answer` for what holds no contents
 */
export function readEmbedded(block: EmbeddedBlock): Embedded {
  const annotations = annotationsOf(block);
  const resource = annotations === undefined ? block.resource : { ...block.resource, annotations };
  const item = typeof block.resource?.uri === 'string' ? itemIn(resource, block.resource.uri) : undefined;
  if (item === undefined) throw invalidAnswer('The block has no contents of a resource in it');
  return { ...block, resource, ...(annotations !== undefined && { annotations }), item };
}

/** A block to send: its annotations are those of the resource, and it has none of its own (2093-9). */
export function writeEmbedded(block: EmbeddedBlock): Omit<EmbeddedBlock, 'annotations'> {
  const { annotations: _, ...rest } = block;
  const annotations = annotationsOf(block);
  return annotations === undefined ? rest : { ...rest, resource: { ...block.resource, annotations } };
}

function annotationsOf({ annotations, resource }: EmbeddedBlock): Annotations | undefined {
  const own = resource?.annotations as Annotations | undefined;
  return own === undefined ? annotations : annotations === undefined ? own : { ...annotations, ...own };
}

/** A block that names a resource: `resource_link`. */
export interface LinkBlock extends Resource {
  readonly type: 'resource_link';
}
