/** From an OpenAPI document to resources and templates. Credentials stay with the origin that is configured. */
import { breaks } from '../../../core/breaks.ts';
import type { Log } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { Access } from '../send.ts';
import type { Target } from '../target.ts';
import { compileTemplate, type WebTemplate } from '../templates.ts';
import { type Api, parseApi } from './document.ts';
import { type Operations, operationsOf } from './operations.ts';

/** Which document is read, in words that cross to a thread. */
export interface ApiSource {
  /** How the document is called in errors. */
  readonly what: string;
  /** The URL of the document; undefined for a file. */
  readonly from: string | undefined;
  /** Where the API is, as it was configured. */
  readonly server: string | undefined;
}

/** An API document that was read, as data alone. */
export interface ApiReading extends Operations {
  /** Where the API is, without a slash at the end. */
  readonly base: string;
}

export interface ApiPlace extends ApiSource {
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
export function readApi(text: string, source: ApiSource): ApiReading {
  const api = parseApi(text, source.what);
  const base = baseOf(api, source).href.replace(/\/$/, '');
  return { base, ...operationsOf(api, base) };
}

/** Returns the resources and templates of an API. There may be thousands: other work has its turn meanwhile. */
export async function resourcesOf({ base, operations, more }: ApiReading, place: ApiPlace): Promise<ApiResources> {
  const { origin } = new URL(base);
  const configured = place.server ?? place.from;
  const isOwn = configured !== undefined && new URL(configured).origin === origin;
  const common = { access: isOwn ? place.access : NO_ACCESS, head: false };
  const targets = new Map<string, Target>();
  const templates: WebTemplate[] = [];
  const taken = breaks();
  for (const { url, urlTemplate, values, said } of operations) {
    await taken();
    if (url !== undefined && URL.canParse(url)) {
      const parsed = new URL(url);
      // A path that climbs is none of this API.
      if (parsed.origin === origin && !targets.has(parsed.href) && parsed.href === url)
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
  if (more) place.log?.warn('left out of an API: it has more operations than are shown', { document: place.what });
  return { targets: [...targets.values()], templates };
}

/** Where the API is: as configured, or the first of its servers, with the defaults of its variables. */
function baseOf(api: Api, { what, from, server }: ApiSource): URL {
  if (server !== undefined) return plain(new URL(server));
  const [first] = api.document.servers ?? [];
  const written = (first?.url ?? '/').replace(
    /\{([^{}]*)\}/g,
    (_, name: string) => first?.variables?.[name]?.default ?? '',
  );
  const base = URL.canParse(written, from) ? new URL(written, from) : undefined;
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
