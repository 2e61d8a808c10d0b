/** The place that an address stands for: the whole state of the page, so that a reload and a shared address come back to it. */
import { addressed, addressOf, withQuery } from '../../frontends/explorer/address.ts';
import { MAX_WORDS, SEARCH_PATH } from '../../frontends/explorer/search-address.ts';

/** How a folder is looked at. */
export interface Looks {
  readonly filter?: string | undefined;
  /** `name`, `type`, `size` or `changed`, with `-` in front for the other way around. */
  readonly sort?: string | undefined;
  readonly columns?: boolean | undefined;
}

/** How the thing is looked at. */
export interface View {
  /** A format, as a MIME type. */
  readonly as?: string | undefined;
  /** The first byte of the window; `end` for the last window. */
  readonly from?: string | undefined;
  readonly lines?: string | undefined;
  /** `text` for the source and `bytes` for a window in hexadecimal. Default: the preview. */
  readonly show?: string | undefined;
}

export type Place =
  | ({ readonly kind: 'home' } & Looks)
  | ({ readonly kind: 'resource'; readonly uri: string } & Looks & View)
  | { readonly kind: 'search'; readonly words: string }
  | { readonly kind: 'template' | 'tool' | 'prompt'; readonly name: string };

export const OFFERS = ['template', 'tool', 'prompt'] as const;

/** Characters of a part of an address. */
const MAX_PART = 8_192;

/** @returns undefined for an address that is not a page of the explorer */
export function placeOf({ pathname, searchParams }: URL): Place | undefined {
  const part = (name: string): string | undefined => searchParams.get(name)?.slice(0, MAX_PART) || undefined;
  const looks: Looks = {
    filter: part('filter'),
    sort: part('sort'),
    columns: searchParams.has('columns') || undefined,
  };
  if (pathname === '/') {
    for (const kind of OFFERS) {
      const name = part(kind);
      if (name !== undefined) return { kind, name };
    }
    return { kind: 'home', ...looks };
  }
  if (pathname === SEARCH_PATH) return { kind: 'search', words: (part('q') ?? '').slice(0, MAX_WORDS) };
  const found = addressed(pathname, searchParams);
  if (found?.route !== 'view') return undefined;
  const view = { as: part('as'), from: part('from'), lines: part('lines'), show: part('show') };
  return { kind: 'resource', uri: found.uri, ...looks, ...view };
}

export function addressOfPlace(place: Place): string {
  switch (place.kind) {
    case 'home':
      return withQuery('/', queryOf(place));
    case 'search':
      return withQuery(SEARCH_PATH, { q: place.words });
    case 'resource': {
      const { as, from, lines, show } = place;
      return withQuery(addressOf('view', place.uri), { ...queryOf(place), as, from, lines, show });
    }
    default:
      return withQuery('/', { [place.kind]: place.name });
  }
}

/** The part of a place that says how its folder is looked at. */
export const looksOf = ({ filter, sort, columns }: Looks): Looks => ({ filter, sort, columns });

const queryOf = ({ filter, sort, columns }: Looks): Record<string, string | undefined> => ({
  filter,
  sort,
  columns: columns === true ? '1' : undefined,
});
