/** Converts GET operations to URLs and URL templates. An operation that requires a header or a cookie is left out. */
import type { ApiReading, Description, Operation } from 'vitrine/plug-in';
import { type Api, type ApiOperation, type ApiParameter, once } from './document.ts';

/** The most operations of one document, and the most characters of all their URLs, names, titles and descriptions together. */
const MAX_OPERATIONS = 2_000;
const MAX_TEXT = 4 * 1024 * 1024;

/** The most characters of a path. */
const MAX_PATH = 2_048;

/** The most parameters of one operation, and the most characters of its URL template after the base. */
const MAX_PARAMETERS = 256;
const MAX_URL = 8_192;

const MAX_DESCRIPTION = 1_000;

/** The most values of one variable, and of all variables of a document together. A variable over either limit has no suggestions. */
const MAX_VALUES = 1_000;
const MAX_ALL_VALUES = 20_000;

/** The most characters of a MIME type, and of a suggested value. */
const MAX_TYPE = 255;
const MAX_VALUE = 1_024;

/** Functions that examine each part of the document only once, however many operations share it. */
interface Shared {
  readonly valuesOf: (schema: unknown) => readonly string[] | undefined;
  readonly typeOf: (responses: unknown) => string | undefined;
  /** Returns undefined for a parameter that cannot be written into the query. */
  readonly queryPart: (parameter: ApiParameter) => Part | undefined;
}

/** @param base the URL of the API, without a slash at the end */
export function operationsOf(api: Api, base: string): Pick<ApiReading, 'operations' | 'more'> {
  const operations: Operation[] = [];
  const valuesOf = valuesIn(api);
  const shared: Shared = {
    valuesOf,
    typeOf: typesIn(api),
    queryPart: once((parameter) => queryPart(api, valuesOf, parameter as ApiParameter)),
  };
  let length = 0;
  for (const [path, value] of Object.entries(api.document.paths ?? {})) {
    const item = path.startsWith('/') && path.length <= MAX_PATH ? api.path(value) : undefined;
    const get = api.operation(item?.get);
    // An operation with servers of its own is left out: it is not below the configured URL.
    if (item === undefined || item.get === undefined || get === undefined || item.servers !== undefined) continue;
    if (get.servers !== undefined) continue;
    const parameters = [item.parameters ?? [], get.parameters ?? []];
    if (parameters.reduce((sum, { length: more }) => sum + more, 0) > MAX_PARAMETERS) continue;
    const inherited = { summary: item.summary, description: item.description };
    const operation = operationOf(api, shared, base, path, { ...inherited, ...get }, parameters.flat());
    if (operation === undefined) continue;
    length += lengthOf(operation);
    if (operations.length >= MAX_OPERATIONS || length > MAX_TEXT) return { operations, more: true };
    operations.push(operation);
  }
  return { operations, more: false };
}

/** Counts the characters of an operation without its suggested values, which have a limit of their own. */
const lengthOf = ({ url = '', urlTemplate = '', description: texts }: Operation): number =>
  [url, urlTemplate, texts.name, texts.title, texts.description].reduce((sum, text = '') => sum + text.length, 0);

interface Part {
  readonly expression: string;
  readonly name: string;
  readonly values: readonly string[] | undefined;
}

function operationOf(
  api: Api,
  shared: Shared,
  base: string,
  path: string,
  get: ApiOperation,
  declared: readonly unknown[],
): Operation | undefined {
  const parameters = new Map<string, ApiParameter>();
  for (const each of declared) {
    const parameter = api.parameter(each);
    if (parameter === undefined) return undefined;
    parameters.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  const query: Part[] = [];
  let needed = false;
  for (const parameter of parameters.values()) {
    if (parameter.in === 'path') continue;
    const part = parameter.in === 'query' ? shared.queryPart(parameter) : undefined;
    if (part !== undefined) query.push(part);
    else if (parameter.required) return undefined;
    needed ||= parameter.required === true;
  }
  const inPath = pathOf(api, shared, path, parameters);
  if (inPath === undefined) return undefined;

  const parts = [...inPath.parts, ...query];
  const written = query.length === 0 ? '' : `{?${query.map(({ expression }) => expression).join(',')}}`;
  if (inPath.text.length + written.length > MAX_URL) return undefined;
  return {
    url: inPath.parts.length === 0 && !needed ? base + inPath.text : undefined,
    urlTemplate: parts.length === 0 ? undefined : base + inPath.text + written,
    values: Object.fromEntries(parts.flatMap(({ name, values }) => (values === undefined ? [] : [[name, values]]))),
    description: describe(shared, path, get),
  };
}

/** Returns the path as a URI template, with its variables; undefined if it cannot be written as one. */
function pathOf(
  api: Api,
  { valuesOf }: Shared,
  path: string,
  parameters: ReadonlyMap<string, ApiParameter>,
): { readonly text: string; readonly parts: readonly Part[] } | undefined {
  const parts: Part[] = [];
  let fits = true;
  const text = path
    .split(/(\{[^{}]*\})/)
    .map((piece) => {
      if (!piece.startsWith('{'))
        return encodeURI(piece.replaceAll('%', '%25')).replaceAll('#', '%23').replaceAll('?', '%3F');
      const parameter = parameters.get(`path ${piece.slice(1, -1)}`);
      const operator = { simple: '', label: '.', matrix: ';' }[parameter?.style ?? 'simple'];
      if (parameter === undefined || operator === undefined || parameter.schema === undefined) {
        fits = false;
        return '';
      }
      // Only the style `matrix` writes a variable's name into the URL, so only there the name has to be kept.
      const name = operator === ';' ? encodedName(parameter.name) : parameter.name.replace(/[^A-Za-z0-9_]/g, '_');
      parts.push({ name, expression: name, values: valuesOf(parameter.schema) });
      return `{${operator}${name}${parameter.explode === true && isList(api, parameter.schema) ? '*' : ''}}`;
    })
    .join('');
  if (new Set(parts.map(({ name }) => name)).size < parts.length) return undefined;
  return fits ? { text, parts } : undefined;
}

function queryPart(
  api: Api,
  valuesOf: Shared['valuesOf'],
  { name, schema, style = 'form', explode }: ApiParameter,
): Part | undefined {
  const list = isList(api, schema);
  if (schema === undefined || style !== 'form' || api.schema(schema)?.type === 'object') return undefined;
  const variable = encodedName(name);
  const values = valuesOf(list ? api.schema(schema)?.items : schema);
  return { name: variable, expression: list && explode !== false ? `${variable}*` : variable, values };
}

const isList = (api: Api, schema: unknown): boolean => api.schema(schema)?.type === 'array';

/** Encodes a parameter's name as a variable of a template. The variable's name is written into the URL (RFC 6570 section 2.3). */
const encodedName = (name: string): string =>
  encodeURIComponent(name).replace(/[^A-Za-z0-9_%]/g, (other) => `%${other.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns a function that finds the values a variable may have, where its schema lists them. */
function valuesIn(api: Api): Shared['valuesOf'] {
  let count = 0;
  const find = once((schema): readonly string[] | undefined => {
    const { enum: listed, const: only } = api.schema(schema) ?? {};
    const all = listed ?? (only === undefined ? [] : [only]);
    if (all.length > MAX_VALUES || count + all.length > MAX_ALL_VALUES) return undefined;
    const values = all.filter((value) => ['string', 'number', 'boolean'].includes(typeof value)).map(String);
    if (values.length === 0 || values.some(({ length }) => length > MAX_VALUE)) return undefined;
    count += values.length;
    return values;
  });
  return (schema) => find(api.resolve(schema));
}

function describe(
  { typeOf }: Shared,
  path: string,
  { operationId, summary, description, responses }: ApiOperation,
): Description {
  const title = summary?.slice(0, MAX_DESCRIPTION).trim();
  const more = description?.slice(0, MAX_DESCRIPTION).trim();
  return {
    name: operationId?.slice(0, MAX_DESCRIPTION) || `GET ${path}`,
    title: title || undefined,
    description: more || undefined,
    mimeType: typeOf(responses),
  };
}

/**
 * Returns a function that finds the MIME type of the first 2xx response, or else of the default response. Of several types it takes
 * JSON, or else the first.
 */
function typesIn(api: Api): Shared['typeOf'] {
  const inContent = once((content): string | undefined => {
    const types = typeof content === 'object' && content !== null ? Object.keys(content) : [];
    const named = types.filter((type) => type.length <= MAX_TYPE && /^[\w.+-]+\/[\w.+-]+$/.test(type));
    return named.find((type) => type === 'application/json') ?? named[0];
  });
  return once((responses) => {
    const all = (responses ?? {}) as Readonly<Record<string, unknown>>;
    const found = Object.entries(all).find(([status]) => /^2(\d\d|XX)$/i.test(status));
    const response = api.resolve(found?.[1] ?? all.default);
    return inContent(api.resolve((response as { content?: unknown } | undefined)?.content));
  });
}
