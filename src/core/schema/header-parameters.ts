/**
 * Finds the arguments of a tool that HTTP clients repeat in headers (SEP-2243): properties of its input schema with an
 * `x-mcp-header`. A proxy in front of the server can then route by these headers without reading the body.
 */
import { invalid } from '../errors.ts';
import { BY_NAME_KEYWORDS, DATA_KEYWORDS } from './keywords.ts';
import type { JsonSchema } from './schema.ts';

export interface HeaderParameter {
  /** The part of the header's name after `Mcp-Param-`, as the schema declares it. */
  readonly header: string;
  /** The keys that lead to the argument. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

const KEYWORD = 'x-mcp-header';

/** A token (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The most levels of a schema that are looked through. */
const MAX_DEPTH = 64;

/**
 * Returns the header parameters that an input schema declares.
 * @throws ResourceError `invalid` for a declaration because of which clients would refuse the tool
 */
export function headerParametersOf(schema: JsonSchema): readonly HeaderParameter[] {
  const found: HeaderParameter[] = [];
  const names = new Set<string>();

  function visit(node: unknown, path: readonly string[], reachable: boolean, depth: number): void {
    if (typeof node !== 'object' || node === null || depth > MAX_DEPTH) return;
    if (Array.isArray(node)) {
      for (const each of node) visit(each, path, false, depth + 1);
      return;
    }
    if (KEYWORD in node) declare(node as Readonly<Record<string, unknown>>, path, reachable);
    for (const [keyword, value] of Object.entries(node)) {
      if (DATA_KEYWORDS.has(keyword) || typeof value !== 'object' || value === null) continue;
      if (!BY_NAME_KEYWORDS.has(keyword)) visit(value, path, false, depth + 1);
      else {
        const isProperty = reachable && keyword === 'properties';
        for (const [name, each] of Object.entries(value)) visit(each, [...path, name], isProperty, depth + 1);
      }
    }
  }

  function declare(node: Readonly<Record<string, unknown>>, path: readonly string[], reachable: boolean): void {
    const { [KEYWORD]: header, type } = node;
    const at = path.length === 0 ? 'the schema itself' : path.join('.');
    if (!reachable || path.length === 0)
      throw invalid(`${KEYWORD} at ${at}: only properties of properties can have it`);
    if (typeof header !== 'string' || !TOKEN.test(header)) {
      throw invalid(`${KEYWORD} at ${at}: ${JSON.stringify(header)} is no part of a header's name`);
    }
    if (type !== 'string' && type !== 'integer' && type !== 'boolean') {
      throw invalid(`${KEYWORD} at ${at}: only a string, an integer or a boolean can have it`);
    }
    if (names.has(header.toLowerCase())) throw invalid(`${KEYWORD} at ${at}: ${header} is declared twice`);
    names.add(header.toLowerCase());
    found.push({ header, path, type });
  }

  visit(schema, [], true, 0);
  return found;
}
