/** Lines of a text as a URI fragment, `#L12` or `#L12-L20`, as search results have it. */
import { invalid } from '../../core/errors.ts';

export interface LineRange {
  /** Counted from 1. */
  readonly first: number;
  /** Included. */
  readonly last: number;
}

const FRAGMENT = /^(?<resource>[^#]*)#L(?<first>[1-9]\d{0,9})(?:-L?(?<last>[1-9]\d{0,9}))?$/s;

/** Splits a URI into resource and lines; any other fragment stays a part of the URI. */
export function splitLines(uri: string): { readonly resource: string; readonly lines?: LineRange } {
  const groups = FRAGMENT.exec(uri)?.groups;
  if (groups === undefined) return { resource: uri };
  const first = Number(groups.first);
  const last = groups.last === undefined ? first : Number(groups.last);
  if (last < first) throw invalid('The last line is before the first', uri);
  return { resource: groups.resource ?? '', lines: { first, last } };
}

/** Writes the URI of a resource's lines. */
export function lineUri(uri: string, { first, last }: LineRange): string {
  return first === last ? `${uri}#L${first}` : `${uri}#L${first}-L${last}`;
}
