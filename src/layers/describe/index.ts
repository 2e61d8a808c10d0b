/**
 * The describe layer adds configured descriptions to resources, wherever they are described (RES-3, 973-1). It adds
 * texts and weights; URI, type, size and content stay.
 */

import { createOrigins } from '../../core/again.ts';
import type { ResourceBody } from '../../core/body.ts';
import { essenceOf } from '../../core/formats/formats.ts';
import { compileGlobs } from '../../core/glob/index.ts';
import { type Layer, wrapProvider } from '../../core/layer.ts';
import { mapEntries } from '../../core/lists/entries.ts';
import type { Annotations, Icon, Resource, ResourceTemplate } from '../../protocol/resources.ts';
import { fill, fillersIn } from './words.ts';

/** Describes every matching resource. Where several descriptions match, the last one with a field sets it. */
export interface Description {
  /** Globs over published URIs, such as `docs+file:///reports/**`. Default: any. */
  readonly uris?: readonly string[] | undefined;
  /** Globs over MIME types, such as `image/*`. Default: any. */
  readonly mimeTypes?: readonly string[] | undefined;
  /** May contain `{name}`, `{stem}` (the name without its extension) and `{folder}` (the name of the parent folder). */
  readonly title?: string | undefined;
  /** May contain the same placeholders. */
  readonly description?: string | undefined;
  readonly icons?: readonly Icon[] | undefined;
  /** The intended audience. */
  readonly audience?: readonly ('user' | 'assistant')[] | undefined;
  /** From 0 (entirely optional) to 1 (effectively required). */
  readonly priority?: number | undefined;
}

/** A named item that can be described. */
type Described = Resource | ResourceTemplate;

interface Compiled {
  readonly fits: (uri: string, mimeType: string | undefined) => boolean;
  readonly description: Description;
}

/** @throws ResourceError `invalid` for a title or description with a placeholder that does not exist */
export function describeLayer(descriptions: readonly Description[]): Layer {
  const compiled = descriptions.map(compile);
  const described = <T extends Described>(item: T, uri: string): T => {
    let result = item;
    for (const { fits, description } of compiled)
      if (fits(uri, item.mimeType)) result = withDescription(description, result, uri);
    return result;
  };
  const ofResource = (resource: Resource): Resource => described(resource, resource.uri);

  return (inner) => {
    const origins = createOrigins(inner);
    return wrapProvider(inner, {
      again: origins.again,
      listAgain: origins.listAgain,
      async list(uri, page, ctx) {
        const listed = await inner.list(uri, page, ctx);
        return origins.made({ ...listed, resources: mapEntries(listed.resources, ofResource, ctx) }, listed);
      },
      metadata: async (uri, ctx) => ofResource(await inner.metadata(uri, ctx)),
      async read(uri, want, ctx) {
        const bodies = await inner.read(uri, want, ctx);
        return origins.made(
          bodies.map((body) => ofBody(body, ofResource)),
          bodies,
        );
      },
      ...(inner.listTemplates !== undefined && {
        async listTemplates(page, ctx) {
          const listed = (await inner.listTemplates?.(page, ctx)) ?? { resourceTemplates: [] };
          const ofTemplate = (template: ResourceTemplate): ResourceTemplate =>
            described(template, template.uriTemplate);
          return { ...listed, resourceTemplates: mapEntries(listed.resourceTemplates, ofTemplate, ctx) };
        },
      }),
    });
  };
}

function compile(description: Description): Compiled {
  for (const text of [description.title, description.description]) if (text !== undefined) fillersIn(text);
  const uris = compileGlobs(description.uris, 'uri');
  const types = compileGlobs(
    description.mimeTypes?.map((glob) => glob.toLowerCase()),
    'text',
  );
  return {
    description,
    fits: (uri, mimeType) =>
      uris?.matches(uri) !== false &&
      (types === undefined || (mimeType !== undefined && types.matches(essenceOf(mimeType)))),
  };
}

function withDescription<T extends Described>(texts: Description, item: T, uri: string): T {
  const { title, description, icons, audience, priority } = texts;
  const annotations: Annotations = {
    ...item.annotations,
    ...(audience !== undefined && { audience }),
    ...(priority !== undefined && { priority }),
  };
  return {
    ...item,
    ...(title !== undefined && { title: fill(title, item.name, uri) }),
    ...(description !== undefined && { description: fill(description, item.name, uri) }),
    ...(icons !== undefined && { icons }),
    ...((audience !== undefined || priority !== undefined) && { annotations }),
  };
}

/** Passes on an item of another server unchanged, except for the texts that this layer adds. */
function ofBody(body: ResourceBody, ofResource: (resource: Resource) => Resource): ResourceBody {
  const resource = ofResource(body.resource);
  if (resource === body.resource) return body;
  if (body.item === undefined) return { ...body, resource };
  const { title, description, icons, annotations } = resource;
  const words = Object.entries({ title, description, icons, annotations }).filter(([, value]) => value !== undefined);
  return { ...body, resource, item: { ...body.item, ...Object.fromEntries(words) } };
}
