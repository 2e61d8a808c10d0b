/** Reads and writes resources in the results of tools and in messages of prompts: embedded resources (2093-9), and links. */
import type { Annotations, Resource } from '../protocol/resources.ts';
import { itemIn, type ReadItem } from './contents.ts';
import { invalidAnswer } from './errors.ts';
import type { Data } from './link.ts';

/** A content block that contains a resource, with all fields that the sender set. */
export interface EmbeddedBlock {
  readonly type: 'resource';
  readonly resource: Data;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** An embedded resource that was received. */
export interface Embedded extends EmbeddedBlock {
  /** The contents in the same form as those of a read. */
  readonly item: ReadItem;
}

/**
 * Reads a block that was received. Senders put annotations on the block or, since SEP-2093, on the resource in it; the result has
 * them in both places. If both have the same annotation, that of the resource counts (2093-9).
 * @throws ResourceClientError `invalid-answer` for a block without contents
 */
export function readEmbedded(block: EmbeddedBlock): Embedded {
  const annotations = annotationsOf(block);
  const resource = annotations === undefined ? block.resource : { ...block.resource, annotations };
  const item = typeof block.resource?.uri === 'string' ? itemIn(resource, block.resource.uri) : undefined;
  if (item === undefined) throw invalidAnswer('The block has no contents of a resource in it');
  return { ...block, resource, ...(annotations !== undefined && { annotations }), item };
}

/** Returns a block to send: its annotations move to the resource in it (2093-9). */
export function writeEmbedded(block: EmbeddedBlock): Omit<EmbeddedBlock, 'annotations'> {
  const { annotations: _, ...rest } = block;
  const annotations = annotationsOf(block);
  return annotations === undefined ? rest : { ...rest, resource: { ...block.resource, annotations } };
}

function annotationsOf({ annotations, resource }: EmbeddedBlock): Annotations | undefined {
  const inner = resource?.annotations as Annotations | undefined;
  return inner === undefined ? annotations : annotations === undefined ? inner : { ...annotations, ...inner };
}

/** A block that names a resource: `resource_link`. */
export interface LinkBlock extends Resource {
  readonly type: 'resource_link';
}
