/** GET operations as URLs and URL templates. What needs a header or a cookie of the caller is left out. */
import type { Said } from '../target.ts';
import type { Api, ApiOperation, ApiParameter } from './document.ts';

export interface Operation {
  /** The URL, where nothing has to be filled in. */
  readonly url?: string | undefined;
  /** The URL with its parameters, where there are any. */
  readonly urlTemplate?: string | undefined;
  /** What a variable of the template can have, where the document says so. */
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly said: Said;
}

/** Operations of one document that are looked at. */
const MAX_OPERATIONS = 2_000;

const MAX_DESCRIPTION = 1_000;
const MAX_VALUES = 1_000;

/** @param base where the API is, without a slash at the end */
export function operationsOf(api: Api, base: string): readonly Operation[] {
  const operations: Operation[] = [];
  for (const [path, value] of Object.entries(api.document.paths ?? {})) {
    if (operations.length >= MAX_OPERATIONS) break;
    const item = path.startsWith('/') ? api.path(value) : undefined;
    const get = api.operation(item?.get);
    // Another place than the one that is configured.
    if (item === undefined || item.get === undefined || get === undefined || item.servers !== undefined) continue;
    if (get.servers !== undefined) continue;
    const inherited = { summary: item.summary, description: item.description };
    const operation = operationOf(api, base, path, { ...inherited, ...get }, [
      ...(item.parameters ?? []),
      ...(get.parameters ?? []),
    ]);
    if (operation !== undefined) operations.push(operation);
  }
  return operations;
}

interface Part {
  readonly expression: string;
  readonly name: string;
  readonly values: readonly string[] | undefined;
}

function operationOf(
  api: Api,
  base: string,
  path: string,
  get: ApiOperation,
  said: readonly unknown[],
): Operation | undefined {
  const parameters = new Map<string, ApiParameter>();
  for (const each of said) {
    const parameter = api.parameter(each);
    if (parameter === undefined) return undefined;
    parameters.set(`${parameter.in} ${parameter.name}`, parameter);
  }
  const query: Part[] = [];
  let needed = false;
  for (const parameter of parameters.values()) {
    if (parameter.in === 'path') continue;
    const part = parameter.in === 'query' ? queryPart(api, parameter) : undefined;
    if (part !== undefined) query.push(part);
    else if (parameter.required) return undefined;
    needed ||= parameter.required === true;
  }
  const inPath = pathOf(api, path, parameters);
  if (inPath === undefined) return undefined;

  const parts = [...inPath.parts, ...query];
  const written = query.length === 0 ? '' : `{?${query.map(({ expression }) => expression).join(',')}}`;
  const described = describe(api, path, get);
  return {
    url: inPath.parts.length === 0 && !needed ? base + inPath.text : undefined,
    urlTemplate: parts.length === 0 ? undefined : base + inPath.text + written,
    values: Object.fromEntries(parts.flatMap(({ name, values }) => (values === undefined ? [] : [[name, values]]))),
    said: described,
  };
}

/** The path with its variables in the form of a URI template; undefined for one that cannot be written so. */
function pathOf(
  api: Api,
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
      // Only a matrix writes the name into the URL.
      const name = operator === ';' ? encodedName(parameter.name) : parameter.name.replace(/[^A-Za-z0-9_]/g, '_');
      parts.push({ name, expression: name, values: valuesOf(api, parameter.schema) });
      return `{${operator}${name}${parameter.explode === true && isList(api, parameter.schema) ? '*' : ''}}`;
    })
    .join('');
  if (new Set(parts.map(({ name }) => name)).size < parts.length) return undefined;
  return fits ? { text, parts } : undefined;
}

function queryPart(api: Api, { name, schema, style = 'form', explode }: ApiParameter): Part | undefined {
  const list = isList(api, schema);
  if (schema === undefined || style !== 'form' || api.schema(schema)?.type === 'object') return undefined;
  const variable = encodedName(name);
  const values = valuesOf(api, list ? api.schema(schema)?.items : schema);
  return { name: variable, expression: list && explode !== false ? `${variable}*` : variable, values };
}

const isList = (api: Api, schema: unknown): boolean => api.schema(schema)?.type === 'array';

/** A name as a variable of a template that is written into the URL (RFC 6570 section 2.3). */
const encodedName = (name: string): string =>
  encodeURIComponent(name).replace(/[^A-Za-z0-9_%]/g, (other) => `%${other.charCodeAt(0).toString(16).toUpperCase()}`);

function valuesOf(api: Api, schema: unknown): readonly string[] | undefined {
  const { enum: listed, const: only } = api.schema(schema) ?? {};
  const values = (listed ?? (only === undefined ? [] : [only])).filter((value) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  return values.length === 0 || values.length > MAX_VALUES ? undefined : values.map(String);
}

function describe(api: Api, path: string, { operationId, summary, description, responses }: ApiOperation): Said {
  const title = summary?.trim().slice(0, MAX_DESCRIPTION);
  const more = description?.trim().slice(0, MAX_DESCRIPTION);
  return {
    name: operationId || `GET ${path}`,
    title: title || undefined,
    description: more || undefined,
    mimeType: typeOf(api, responses),
  };
}

/** The first type of the first answer that is no failure, JSON before others. */
function typeOf(api: Api, responses: ApiOperation['responses']): string | undefined {
  const found = Object.entries(responses ?? {}).find(([status]) => /^2(\d\d|XX)$/i.test(status));
  const response = api.resolve(found?.[1] ?? responses?.default);
  const content = api.resolve((response as { content?: unknown } | undefined)?.content);
  const types = typeof content === 'object' && content !== null ? Object.keys(content) : [];
  const named = types.filter((type) => /^[\w.+-]+\/[\w.+-]+$/.test(type));
  return named.find((type) => type === 'application/json') ?? named[0];
}
