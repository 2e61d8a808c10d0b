/** Answers `resources/metadata` (2093-2): the metadata of a resource, without its content. */
import type { Context } from '../../core/context.ts';
import type { MetadataParams } from '../../protocol/methods.ts';
import type { CacheHint, Resource } from '../../protocol/resources.ts';
import { answering } from './answer.ts';
import type { ResourceOptions } from './options.ts';

export interface MetadataResult extends CacheHint {
  readonly resource: Resource;
}

export async function readMetadata(
  options: ResourceOptions,
  params: MetadataParams,
  ctx: Context,
): Promise<MetadataResult> {
  return answering(options, ctx, async (noted) => ({ resource: await options.provider.metadata(params.uri, noted) }));
}
