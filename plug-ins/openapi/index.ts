/** Reads the GET operations of an API from its OpenAPI document, as plain data. */
import { type ApiReading, type ApiSource, type DocumentPlugIn, ResourceError } from 'vitrine/plug-in';
import { type Api, parseApi } from './document.ts';
import { operationsOf } from './operations.ts';

/** @throws ResourceError `invalid` for a text that is no OpenAPI document, or does not give the URL of its API */
export function readApi(text: string, source: ApiSource): ApiReading {
  const api = parseApi(text, source.what);
  const base = baseOf(api, source).href.replace(/\/$/, '');
  return { base, ...operationsOf(api, base) };
}

const plugIn: DocumentPlugIn<ApiSource, ApiReading> = {
  read: (bytes, source) => readApi(new TextDecoder().decode(bytes), source),
};
export default plugIn;

/** Returns the configured URL of the API, or else its first server, with the default values of its variables. */
function baseOf(api: Api, { what, from, server }: ApiSource): URL {
  if (server !== undefined) return plain(new URL(server));
  const [first] = api.document.servers ?? [];
  const written = (first?.url ?? '/').replace(
    /\{([^{}]*)\}/g,
    (_, name: string) => first?.variables?.[name]?.default ?? '',
  );
  const base = URL.canParse(written, from) ? new URL(written, from) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol) || base.username !== '' || base.password !== '')
    throw new ResourceError('invalid', `${what} does not give the URL of its API; set it as server`);
  return plain(base);
}

function plain(url: URL): URL {
  const copy = new URL(url);
  copy.hash = '';
  copy.search = '';
  return copy;
}
