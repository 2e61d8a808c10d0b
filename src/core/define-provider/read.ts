/** Makes bodies of the result of a definition's `read`. A container without content of its own reads as its children. */
import type { Resource } from '../../protocol/resources.ts';
import { type BodyContent, bytesOf, type ResourceBody, textBytes } from '../body.ts';
import { childBodies } from '../child-bodies.ts';
import type { Context } from '../context.ts';
import { invalid, notFound } from '../errors.ts';
import type { ReadOptions } from '../provider.ts';
import type { DefinedContent, ProviderDefinition } from './definition.ts';
import { type Finder, type Found, isContainer } from './find.ts';

/** @throws ResourceError `not-found`, `invalid` for a window on a container */
export async function readDefined(
  definition: ProviderDefinition,
  finder: Finder,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const found = await finder.find(uri, ctx);
  const bodies = await bodiesOf(definition, found, want, ctx);
  if (bodies !== undefined) return bodies;
  if (!isContainer(found.resource)) throw notFound(uri);
  if (want.range !== undefined) throw invalid('A container has no bytes to take a window of; list it instead', uri);
  return readChildren(definition, finder, found.resource.uri, want, ctx);
}

async function bodiesOf(
  definition: ProviderDefinition,
  { resource, template }: Found,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[] | undefined> {
  const content =
    template?.defined.read === undefined
      ? await definition.read(resource.uri, want, ctx)
      : await template.defined.read(template.variables, want, ctx, resource.uri);
  if (content === undefined) return undefined;
  return isBodies(content) ? content : [bodyOf(resource, content)];
}

async function readChildren(
  definition: ProviderDefinition,
  finder: Finder,
  uri: string,
  want: ReadOptions,
  ctx: Context,
): Promise<readonly ResourceBody[]> {
  const { resources } = await finder.page(uri, { limit: want.maxChildren }, ctx);
  const bodyOfChild = (child: Resource, maxBytes: number) => childOf(definition, child, { ...want, maxBytes }, ctx);
  return childBodies(uri, resources, want.maxBytes, bodyOfChild, ctx);
}

/** Reads one child. If it reads as several bodies, the first counts. */
async function childOf(
  definition: ProviderDefinition,
  resource: Resource,
  want: ReadOptions,
  ctx: Context,
): Promise<ResourceBody | undefined> {
  const bodies = await bodiesOf(definition, { resource }, want, ctx);
  const [first, ...others] = bodies ?? [];
  await Promise.all(others.map((body) => body.close?.()));
  return first;
}

const isBodies = (content: DefinedContent | readonly ResourceBody[]): content is readonly ResourceBody[] =>
  Array.isArray(content);

function bodyOf(resource: Resource, content: DefinedContent): ResourceBody {
  if (typeof content === 'string') return { resource, content: textBytes(content) };
  if (content instanceof Uint8Array) return { resource, content: bytesOf(content) };
  const described = content.mimeType === undefined ? resource : { ...resource, mimeType: content.mimeType };
  if ('text' in content) return { resource: described, content: textBytes(content.text) };
  if ('bytes' in content) return { resource: described, content: bytesOf(content.bytes) };
  const stream: BodyContent = { kind: 'stream', size: content.size, open: content.open };
  return { resource: described, content: stream, close: content.close };
}
