/** Makes the statements of saved queries: the SQL is in the configuration, a caller gives only values for its parameters. */
import { invalid, notFound } from '../../core/errors.ts';
import { parseUriTemplate, type UriTemplate } from '../../core/uri-template.ts';
import type { QueryParameter, SavedQuery, SqlConfig } from './config.ts';
import type { Parameter, Statement } from './dialect.ts';
import { QUERIES } from './place.ts';

/** The most characters of a value, unless the configuration says otherwise. */
const MAX_LENGTH = 1_024;

export interface Saved {
  readonly name: string;
  readonly query: SavedQuery;
  readonly parameters: readonly (readonly [name: string, parameter: QueryParameter])[];
  /** The template of its URIs with parameters; undefined if it has no parameters. */
  readonly template: UriTemplate | undefined;
  /** Whether it can be read without a query string: every parameter has a default. */
  readonly bare: boolean;
  /**
   * Makes the statement for a URI.
   * @throws ResourceError `not-found` for a URI that is not one of this query; `invalid` for a value that is not allowed
   */
  statement(uri: string): Statement;
}

export function savedQueries(scheme: string, queries: SqlConfig['queries'] = {}): ReadonlyMap<string, Saved> {
  const names = Object.keys(queries).sort();
  return new Map(
    names.flatMap((name) => {
      const query = Object.hasOwn(queries, name) ? queries[name] : undefined;
      return query === undefined ? [] : [[name, savedQuery(scheme, name, query)] as const];
    }),
  );
}

function savedQuery(scheme: string, name: string, query: SavedQuery): Saved {
  const parameters = Object.entries(query.parameters ?? {});
  const bare = parameters.every(([, { default: value }]) => value !== undefined);
  const base = `${scheme}:///${QUERIES}/${name}`;
  const template =
    parameters.length === 0
      ? undefined
      : parseUriTemplate(`${base}{?${parameters.map(([parameter]) => parameter).join(',')}}`);
  return {
    name,
    query,
    parameters,
    template,
    bare,
    statement(uri) {
      const given = template === undefined ? (uri === base ? {} : undefined) : template.match(uri);
      if (given === undefined) throw notFound(uri);
      return {
        sql: query.sql,
        parameters: parameters.map(([key, parameter]) => {
          const value = Object.hasOwn(given, key) ? given[key] : undefined;
          if (value === undefined) return defaultOf(key, parameter, uri);
          if (typeof value !== 'string') throw invalid(`The parameter ${key} must be a single value`, uri);
          return bound(key, parameter, value, uri);
        }),
      };
    },
  };
}

function defaultOf(name: string, parameter: QueryParameter, uri: string): Parameter {
  if (parameter.default === undefined) throw invalid(`The parameter ${name} is missing`, uri);
  return bound(name, { ...parameter, values: undefined }, String(parameter.default), uri);
}

/** Converts the text of a parameter to its type. @throws ResourceError `invalid` if the text is not allowed */
function bound(
  name: string,
  { type, values, maxLength = MAX_LENGTH }: QueryParameter,
  text: string,
  uri: string,
): Parameter {
  if (text.length > maxLength) throw invalid(`The parameter ${name} has at most ${maxLength} characters`, uri);
  if (values !== undefined && !values.includes(text))
    throw invalid(`The parameter ${name} has none of the allowed values`, uri);
  switch (type) {
    case 'integer':
      if (/^-?\d{1,18}$/.test(text)) return BigInt(text);
      throw invalid(`The parameter ${name} must be an integer`, uri);
    case 'number':
      if (/^-?\d{1,40}(?:\.\d{1,40})?(?:e[+-]?\d{1,3})?$/i.test(text) && Number.isFinite(Number(text)))
        return Number(text);
      throw invalid(`The parameter ${name} must be a number`, uri);
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true';
      throw invalid(`The parameter ${name} must be true or false`, uri);
    case 'text':
      if (text.includes('\u0000')) throw invalid(`The parameter ${name} must not contain NUL`, uri);
      return text;
  }
}
