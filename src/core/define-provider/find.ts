/** Finds one resource by its URI: with the definition's `metadata`, its templates, or its lists. */
import { DIRECTORY_MIME_TYPE, type Resource } from '../../protocol/resources.ts';
import type { Context } from '../context.ts';
import { defined } from '../defined.ts';
import { invalid, notFound, ResourceError } from '../errors.ts';
import { mimeTypeOfName } from '../formats/mime-type.ts';
import type { Page } from '../provider.ts';
import { nameOfUri, schemeOf, splitUri } from '../uri.ts';
import type { DefinedPage, DefinedResource, NamedDefinition } from './definition.ts';
import { type MatchedTemplate, matchTemplate, type ParsedTemplate } from './templates.ts';

/**
 * The most entries on pages that are searched for one resource, in a definition without `metadata`. A complete list is there
 * already, so it counts as one entry.
 */
export const MAX_LOOKED_AT = 10_000;

/** The number of entries per page in such a search. */
const STEP = 500;

export interface Found {
  readonly resource: Resource;
  /** The template that the URI matches, if the resource was found by it. */
  readonly template?: MatchedTemplate | undefined;
}

export interface Finder {
  /** @throws ResourceError `not-found`, `invalid`; `internal` if the lists are too long to search */
  find(uri: string, ctx: Context): Promise<Found>;
  /** Returns one page of a container, or of the roots, with missing fields filled in. @throws ResourceError `not-found` */
  page(uri: string | undefined, page: Page, ctx: Context): Promise<{ resources: Resource[]; nextCursor?: string }>;
}

export const isContainer = (resource: { readonly mimeType?: string | undefined }): boolean =>
  resource.mimeType === DIRECTORY_MIME_TYPE;

export function createFinder(definition: NamedDefinition, templates: readonly ParsedTemplate[]): Finder {
  const schemes = [definition.scheme].flat();
  const subscribe = definition.watch !== undefined;

  function complete(resource: DefinedResource): Resource {
    const name = resource.name ?? nameOfUri(resource.uri) ?? definition.name;
    const mimeType = resource.mimeType ?? mimeTypeOfName(name);
    return {
      ...resource,
      name,
      ...(mimeType !== undefined && { mimeType }),
      capabilities: { list: isContainer(resource), subscribe },
    };
  }

  async function page(
    uri: string | undefined,
    wanted: Page,
    ctx: Context,
  ): Promise<{ resources: Resource[]; nextCursor?: string }> {
    const listed = await definition.list(uri, wanted, ctx);
    if (listed === undefined) throw notFound(uri ?? '');
    const { resources, nextCursor } = isPage(listed) ? listed : cut(listed, wanted);
    return { resources: resources.map(complete), ...(nextCursor !== undefined && { nextCursor }) };
  }

  /**
   * Searches from the roots down, through the containers in which the resource can be by its URI.
   * @returns `too-many` if it has searched as many entries as it may
   */
  async function lookUp(uri: string, ctx: Context): Promise<DefinedResource | 'too-many' | undefined> {
    const queue: (string | undefined)[] = [undefined];
    let seen = 0;
    for (let at = 0; at < queue.length; at++) {
      let cursor: string | undefined;
      do {
        ctx.signal.throwIfAborted();
        const listed = await definition.list(queue[at], { cursor, limit: STEP }, ctx);
        if (listed === undefined) throw notFound(queue[at] ?? '');
        // A complete list is searched as it is, and not cut into pages.
        const isWhole = !isPage(listed);
        const { resources, nextCursor } = isWhole ? { resources: listed, nextCursor: undefined } : listed;
        for (const resource of resources) {
          if (resource.uri === uri) return resource;
          if (isContainer(resource) && liesIn(uri, resource.uri)) queue.push(resource.uri);
        }
        // An empty page counts, too, since such pages may have no end.
        seen += isWhole ? 1 : Math.max(1, resources.length);
        if (seen > MAX_LOOKED_AT) return 'too-many';
        cursor = nextCursor;
      } while (cursor !== undefined);
    }
    return undefined;
  }

  async function describe(uri: string, ctx: Context): Promise<Found | undefined> {
    const found = definition.metadata === undefined ? await lookUp(uri, ctx) : await definition.metadata(uri, ctx);
    if (found !== undefined && found !== 'too-many') return { resource: complete(found) };
    const template = matchTemplate(templates, uri);
    if (template === undefined && found === 'too-many') {
      const problem = `The lists of ${definition.name} are too long to look it up; its provider needs metadata()`;
      throw new ResourceError('internal', problem, { uri });
    }
    if (template === undefined) return undefined;
    const { name, title, description, mimeType, icons, annotations } = template.defined;
    const facts =
      template.defined.metadata === undefined ? {} : await template.defined.metadata(template.variables, ctx, uri);
    if (facts === undefined) return undefined;
    const inherited = { name, title, description, mimeType, icons, annotations };
    return { resource: complete({ ...defined(inherited), ...facts, uri }), template };
  }

  return {
    page,
    async find(uri, ctx) {
      ctx.signal.throwIfAborted();
      splitUri(uri);
      if (!schemes.includes(schemeOf(uri) ?? ''))
        throw invalid(`A URI here starts with ${schemes.join(': or ')}:`, uri);
      const found = await describe(uri, ctx);
      if (found !== undefined) return found;
      // A trailing slash means a container, whose URI has none.
      const container = uri.endsWith('/') ? await describe(uri.slice(0, -1), ctx) : undefined;
      if (container === undefined || !isContainer(container.resource)) throw notFound(uri);
      return container;
    },
  };
}

const isPage = (listed: readonly DefinedResource[] | DefinedPage): listed is DefinedPage => 'resources' in listed;

/** Cuts a page out of the complete list. The list is sorted by URI, so a position stays valid when entries are removed. */
function cut(all: readonly DefinedResource[], { cursor, limit }: Page): DefinedPage {
  const sorted = [...all].sort((a, b) => (a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : 0));
  const start = cursor === undefined ? 0 : sorted.findIndex(({ uri }) => uri > cursor);
  const resources = start === -1 ? [] : sorted.slice(start, start + limit);
  const more = resources.length > 0 && start + resources.length < sorted.length;
  return { resources, nextCursor: more ? resources.at(-1)?.uri : undefined };
}

const liesIn = (uri: string, container: string): boolean =>
  uri.startsWith(container.endsWith('/') ? container : `${container}/`);
