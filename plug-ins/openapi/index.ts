/** OpenAPI documents: the GET operations of an API, as data. */
import { type ApiReading, type ApiSource, type DocumentPlugIn, ResourceError } from 'vitrine/plug-in';
import { type Api, parseApi } from './document.ts';
import { operationsOf } from './operations.ts';

/** @throws ResourceError `invalid` for a document that is none, or does not say where its API is */
export function readApi(text: string, source: ApiSource): ApiReading {
  const api = parseApi(text, source.what);
  const base = baseOf(api, source).href.replace(/\/$/, '');
  return { base, ...operationsOf(api, base) };
}

const plugIn: DocumentPlugIn<ApiSource, ApiReading> = {
  read: (bytes, source) => readApi(new TextDecoder().decode(bytes), source),
};
export default plugIn;

/** The URL of the API: as configured, or the first of its servers, with the defaults of its variables. */
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
