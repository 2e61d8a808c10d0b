/** Turns the configuration into resources, templates and documents of APIs. */
import { invalid } from '../../core/errors.ts';
import { hasUser } from '../../core/uri/user.ts';
import type { HttpEntry, HttpOptions } from './config.ts';
import { limitsOf, NO_USER } from './config.ts';
import type { Description } from './readings.ts';
import type { Access } from './send.ts';
import type { Target } from './target.ts';
import { compileTemplate, type WebTemplate } from './templates.ts';

export type Entry =
  | { readonly kind: 'resource'; readonly target: Target }
  | { readonly kind: 'template'; readonly template: WebTemplate }
  | {
      readonly kind: 'api';
      /** A URL, or the path of a file. */
      readonly document: string;
      readonly server: URL | undefined;
      readonly access: Access;
    };

/**
 * Returns the entries of a configuration.
 * @throws ResourceError `invalid` for a URL with a user or a password in it, for a template that cannot be parsed, or if it is
 *   unclear which origin gets the credentials
 */
export function entriesOfConfig(options: HttpOptions): readonly Entry[] {
  const { head } = limitsOf(options);
  const blocks = blocksOf(options.http);
  const addresses = blocks.flatMap(({ block: { url, urlTemplate, openapi, server } }) => [
    url,
    urlTemplate,
    openapi,
    server,
  ]);
  if (addresses.some((each) => each !== undefined && hasUser(each))) throw invalid(`A URL ${NO_USER}`);
  const origins = new Set(blocks.map(({ block }) => originOf(block)));
  const common = hasAny(options.headers) || hasAny(options.query);
  if (common && origins.size > 1)
    throw invalid('headers and query of a mount go to one origin, and this one has several; put them into the entries');
  if (common && origins.has(undefined)) throw invalid(NEEDS_SERVER);

  return blocks.map(({ key, block }): Entry => {
    const access = {
      headers: { ...options.headers, ...block.headers },
      query: { ...options.query, ...block.query },
    };
    const description = descriptionOf(block, key);
    if (block.url !== undefined) {
      const url = new URL(block.url);
      url.hash = '';
      const target = { uri: url.href, url, access, description, head: head && block.feed !== true, feed: block.feed };
      return { kind: 'resource', target };
    }
    if (block.urlTemplate !== undefined) {
      const values = Object.fromEntries(
        Object.entries(block.variables ?? {}).map(([name, variable]) => [name, variable.values]),
      );
      return { kind: 'template', template: compileTemplate(block.urlTemplate, { values, access, description, head }) };
    }
    if (originOf(block) === undefined && (hasAny(access.headers) || hasAny(access.query))) throw invalid(NEEDS_SERVER);
    const server = block.server === undefined ? undefined : new URL(block.server);
    return { kind: 'api', document: block.openapi ?? '', server, access };
  });
}

const NEEDS_SERVER = 'headers and query need a server: set it to the URL of the API that may get them';

/** Returns the URLs in the configuration. */
export const configuredUrls = (entries: readonly Entry[]): readonly URL[] => entries.flatMap(urlsOf);

function urlsOf(entry: Entry): readonly URL[] {
  switch (entry.kind) {
    case 'resource':
      return [entry.target.url];
    case 'template':
      return [new URL(entry.template.origin)];
    case 'api':
      return [entry.server, documentUrl(entry.document)].filter((url) => url !== undefined);
  }
}

export const documentUrl = (document: string): URL | undefined =>
  /^https?:\/\//i.test(document) && URL.canParse(document) ? new URL(document) : undefined;

interface Keyed {
  readonly key?: string | undefined;
  readonly block: HttpEntry;
}

function blocksOf(http: HttpOptions['http']): readonly Keyed[] {
  const blockOf = (entry: string | HttpEntry): HttpEntry => (typeof entry === 'string' ? { url: entry } : entry);
  if (typeof http === 'string') return [{ block: { url: http } }];
  if (Array.isArray(http)) return http.map((entry) => ({ block: blockOf(entry) }));
  return Object.entries(http).map(([key, entry]) => ({ key, block: blockOf(entry) }));
}

/** Returns the origin that the credentials of an entry are sent to; undefined if only the document of an API would tell. */
function originOf({ url, urlTemplate, openapi, server }: HttpEntry): string | undefined {
  const text = url ?? urlTemplate?.split('{', 1)[0] ?? server ?? openapi ?? '';
  return URL.canParse(text) ? new URL(text).origin : undefined;
}

const descriptionOf = (
  { name, title, description, mimeType, annotations }: HttpEntry,
  key: string | undefined,
): Description => ({
  name: name ?? key,
  title,
  description,
  mimeType: mimeType?.toLowerCase(),
  annotations: annotations as Description['annotations'],
});

const hasAny = (record: object | undefined): boolean => Object.keys(record ?? {}).length > 0;
