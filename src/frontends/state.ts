/**
 * Serves Vitrine's own state as resources, `vitrine+state:///...`: the subscriptions that a client has made with tools (CB-8),
 * the state of the mounted servers, and documents for those who run the server. Only they see the state in lists, since it is
 * not part of the served contents.
 */
import type { Operators } from '../core/access.ts';
import { markRepeatable, withAgain } from '../core/again.ts';
import { bytesOf } from '../core/body.ts';
import type { Context, Principal } from '../core/context.ts';
import { invalid, notFound, notListable } from '../core/errors.ts';
import type { Mount } from '../core/mounts/mount.ts';
import { STATE_MOUNT } from '../core/mounts.ts';
import type { Page, ResourcePage, ResourceProvider } from '../core/provider.ts';
import type { IndexState } from '../core/ranked.ts';
import { changeTexts } from '../core/text/scrub.ts';
import { parseTreeUri, splitUri, treeUri } from '../core/uri.ts';
import type { Resource, ResourceTemplate } from '../protocol/resources.ts';

const SCHEME = 'state';

/** A document of the state: its name, and its JSON for a caller. */
export interface StateDocument {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /**
   * Only for those who run the server; others get the same error as for a document that does not exist.
   * Default: for everyone who may read it.
   */
  readonly forOperators?: boolean | undefined;
  /** The query parameters that the document takes; all are texts. Default: none. */
  readonly parameters?: readonly string[] | undefined;
  /** @throws ResourceError `invalid` for parameters that make no sense */
  of(ctx: Context, query: ReadonlyMap<string, string>): unknown;
}

/** The published URI of a document. */
export const stateUri = (name: string): string => `${STATE_MOUNT}+${SCHEME}:///${name}`;

export const SUBSCRIPTIONS_URI = stateUri('subscriptions');

/**
 * The state of each mounted server: connected or not, since when, and what went wrong.
 * @param hide removes from a text what clients must not see. Default: nothing
 */
export function upstreamsDocument(mounts: readonly Mount[], hide = (text: string): string => text): StateDocument {
  return {
    name: 'upstreams',
    title: 'Mounted servers',
    description: 'The state of the mounted servers: who they are, whether they are connected, and what went wrong',
    of: () =>
      changeTexts(
        Object.fromEntries(mounts.flatMap(({ name, health }) => (health === undefined ? [] : [[name, health()]]))),
        hide,
      ),
  };
}

/** The state of the index. Only callers who may read everything in it get its numbers. */
export const indexDocument = (
  state: () => IndexState | undefined,
  mayReadAll: (principal: Principal) => boolean,
): StateDocument => ({
  name: 'index',
  title: 'Index of ranked search',
  description:
    'The state of the index: whether it is complete, how much is in it, and how much was left out for which reason',
  of({ principal }) {
    const now = state() ?? { state: 'opening' };
    return mayReadAll(principal) ? now : { state: now.state };
  },
});

/** @param operators decides who runs the server; if undefined, no list shows any of the state */
export const stateMount = (documents: readonly StateDocument[], operators?: Operators): Mount => ({
  name: STATE_MOUNT,
  listed: operators !== undefined,
  indexed: false,
  provider: stateProvider(documents, operators),
});

const ROOT = treeUri(SCHEME, []);

const FOLDER: Resource = {
  uri: ROOT,
  name: STATE_MOUNT,
  title: 'For those who run this server',
  description: 'The state of the server: its mounts, the audit, rates in use, and who may do what',
  mimeType: 'inode/directory',
  capabilities: { list: true, subscribe: false },
};

const NO_QUERY: ReadonlyMap<string, string> = new Map();

function stateProvider(documents: readonly StateDocument[], operators: Operators | undefined): ResourceProvider {
  const byName = new Map(documents.map((document) => [document.name, document]));
  const nothing: ResourcePage = markRepeatable({ resources: [] });
  const folder: ResourcePage = markRepeatable({ resources: [FOLDER] });

  const operates = ({ principal }: Context, name: string): boolean =>
    operators?.may(principal, stateUri(name)) === true;
  const existsFor = (document: StateDocument, ctx: Context): boolean =>
    document.forOperators !== true || operates(ctx, document.name);
  const ofOperators = documents.filter(({ forOperators }) => forOperators === true);
  const seesFolder = (ctx: Context): boolean => ofOperators.some(({ name }) => operates(ctx, name));
  const roots = (ctx: Context): ResourcePage => (seesFolder(ctx) ? folder : nothing);

  /** @throws ResourceError `not-found`, `invalid` */
  function find(uri: string, ctx: Context): Found {
    const withQuery = findWithQuery(uri, ctx);
    if (withQuery !== undefined) return withQuery;
    const { segments, trailingSlash } = parseTreeUri(uri, SCHEME);
    const document = trailingSlash || segments.length !== 1 ? undefined : byName.get(segments[0] ?? '');
    if (document === undefined || !existsFor(document, ctx)) throw notFound(uri);
    return { document, resource: resourceOf(document, treeUri(SCHEME, [document.name])), query: NO_QUERY };
  }

  /** Finds a document that takes query parameters. Returns undefined if the URI has no query, or is not of such a document. */
  function findWithQuery(uri: string, ctx: Context): Found | undefined {
    const at = uri.indexOf('?');
    if (at === -1) return undefined;
    const { segments } = parseTreeUri(uri.slice(0, at), SCHEME);
    const document = segments.length === 1 ? byName.get(segments[0] ?? '') : undefined;
    if (document?.parameters === undefined || !existsFor(document, ctx)) return undefined;
    return { document, resource: resourceOf(document, uri), query: queryOf(uri, document.parameters) };
  }

  return withAgain(
    {
      name: STATE_MOUNT,
      features: {
        schemes: [SCHEME],
        watch: false,
        templates: operators !== undefined && documents.some(({ parameters }) => parameters !== undefined),
        completion: false,
        search: true,
        ranges: true,
        hints: true,
      },
      async list(uri, page, ctx) {
        if (uri === undefined) return roots(ctx);
        if (uri === ROOT && seesFolder(ctx)) {
          const { shown, nextCursor } = pageOf(
            ofOperators.filter(({ name, parameters }) => parameters === undefined && operates(ctx, name)),
            page,
          );
          return {
            resources: shown.map((document) => resourceOf(document, treeUri(SCHEME, [document.name]))),
            nextCursor,
          };
        }
        throw notListable(find(uri, ctx).resource.uri);
      },
      metadata: async (uri, ctx) => (uri === ROOT && seesFolder(ctx) ? FOLDER : find(uri, ctx).resource),
      async listTemplates(page, ctx) {
        const { shown, nextCursor } = pageOf(
          ofOperators.filter(({ name, parameters }) => parameters !== undefined && operates(ctx, name)),
          page,
        );
        return { resourceTemplates: shown.map(templateOf), nextCursor };
      },
      // The state is not part of the contents that are searched.
      async *search() {},
      async read(uri, { range }, ctx) {
        if (uri === ROOT && seesFolder(ctx)) throw invalid('This is a folder; list it', uri);
        const { document, resource, query } = find(uri, ctx);
        if (document.forOperators === true) ctx.notes?.fresh({ ttlMs: 0, cacheScope: 'private' });
        else ctx.notes?.plain();
        const bytes = Buffer.from(`${JSON.stringify(await document.of(ctx, query), undefined, 2)}\n`);
        if (range === undefined) return [{ resource, content: bytesOf(bytes) }];
        const { offset, length } = range;
        const total = bytes.byteLength;
        if (offset > total)
          throw invalid(`The window begins past the end of the resource, which has ${total} bytes`, uri);
        const end = length === undefined ? total : offset + length;
        return [{ resource, content: bytesOf(bytes.subarray(offset, end)), window: { offset, total } }];
      },
    },
    { listAgain: (page, uri, _want, ctx) => uri === undefined && page === roots(ctx) },
  );
}

/** Documents of a page, in their order; the position is the name of the last one. @throws ResourceError `invalid` */
function pageOf(documents: readonly StateDocument[], { cursor, limit }: Page) {
  const from = cursor === undefined ? 0 : documents.findIndex(({ name }) => name === cursor) + 1;
  if (cursor !== undefined && from === 0) throw invalid('The cursor names a document that is not there');
  const shown = documents.slice(from, from + limit);
  return { shown, nextCursor: from + shown.length < documents.length ? shown.at(-1)?.name : undefined };
}

interface Found {
  readonly document: StateDocument;
  readonly resource: Resource;
  readonly query: ReadonlyMap<string, string>;
}

const resourceOf = ({ name, title, description }: StateDocument, uri: string): Resource => ({
  uri,
  name,
  title,
  description,
  mimeType: 'application/json',
  capabilities: { list: false, subscribe: false },
});

const templateOf = ({ name, title, description, parameters = [] }: StateDocument): ResourceTemplate => ({
  uriTemplate: `${treeUri(SCHEME, [name])}{?${parameters.join(',')}}`,
  name,
  title,
  description,
  mimeType: 'application/json',
});

/** @throws ResourceError `invalid` for a parameter that is unknown or repeated */
function queryOf(uri: string, parameters: readonly string[]): ReadonlyMap<string, string> {
  const { query = '' } = splitUri(uri);
  const found = new Map<string, string>();
  for (const part of query.split('&').filter((text) => text !== '')) {
    const [name = '', ...value] = part.split('=');
    if (!parameters.includes(name) || found.has(name))
      throw invalid(`The query takes each of these once: ${parameters.join(', ')}`, uri);
    found.set(name, decoded(value.join('='), uri));
  }
  return found;
}

function decoded(text: string, uri: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw invalid('The escapes of the URI are not valid UTF-8', uri).withCause(cause);
  }
}
