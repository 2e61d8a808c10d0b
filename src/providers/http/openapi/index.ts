/** From an OpenAPI document to resources and templates. Credentials stay with the origin that is configured. */
import type { Log } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { Access } from '../send.ts';
import type { Target } from '../target.ts';
import { compileTemplate, type WebTemplate } from '../templates.ts';
import { type Api, parseApi } from './document.ts';
import { operationsOf } from './operations.ts';

export interface ApiPlace {
  /** How the document is called in errors. */
  readonly what: string;
  /** The URL of the document; undefined for a file. */
  readonly from: URL | undefined;
  /** Where the API is, as it was configured. */
  readonly server: URL | undefined;
  /** Of the server, or else of the document's origin. */
  readonly access: Access;
  readonly log?: Log | undefined;
}

export interface ApiResources {
  readonly targets: readonly Target[];
  readonly templates: readonly WebTemplate[];
}

const NO_ACCESS: Access = { headers: {}, query: {} };

/** @throws ResourceError `invalid` for a document that is none, or does not say where its API is */
export function resourcesOfApi(source: string, place: ApiPlace): ApiResources {
  const api = parseApi(source, place.what);
  const base = baseOf(api, place);
  const configured = (place.server ?? place.from)?.origin;
  const access = base.origin === configured ? place.access : NO_ACCESS;
  const common = { access, head: false };
  const targets = new Map<string, Target>();
  const templates: WebTemplate[] = [];
  for (const { url, urlTemplate, values, said } of operationsOf(api, base.href.replace(/\/$/, ''))) {
    if (url !== undefined && URL.canParse(url)) {
      const parsed = new URL(url);
      // A path that climbs is none of this API.
      if (parsed.origin === base.origin && !targets.has(parsed.href) && parsed.href === url)
        targets.set(parsed.href, { ...common, uri: parsed.href, url: parsed, said, feed: false });
    }
    if (urlTemplate === undefined) continue;
    try {
      templates.push(compileTemplate(urlTemplate, { ...common, said, values }));
    } catch (error) {
      if (!(error instanceof ResourceError)) throw error;
      place.log?.debug('left out of an API: its URL cannot be written as a template', { operation: said.name });
    }
  }
  return { targets: [...targets.values()], templates };
}

/** Where the API is: as configured, or the first of its servers, with the defaults of its variables. */
function baseOf(api: Api, { what, from, server }: ApiPlace): URL {
  if (server !== undefined) return plain(server);
  const [first] = api.document.servers ?? [];
  const written = (first?.url ?? '/').replace(
    /\{([^{}]*)\}/g,
    (_, name: string) => first?.variables?.[name]?.default ?? '',
  );
  const base = URL.canParse(written, from?.href) ? new URL(written, from?.href) : undefined;
  if (base === undefined || (base.protocol !== 'https:' && base.protocol !== 'http:') || base.username !== '')
    throw new ResourceError('invalid', `${what} does not say where its API is; say it in server`);
  return plain(base);
}

function plain(url: URL): URL {
  const copy = new URL(url);
  copy.hash = '';
  copy.search = '';
  return copy;
}
