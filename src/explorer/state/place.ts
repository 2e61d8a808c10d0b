/** The place of an address: the whole state of the page, so that reloading or sharing the address restores it. */
import { addressed, addressOf, withQuery } from '../../frontends/explorer/address.ts';
import { MAX_WORDS, SEARCH_PATH } from '../../frontends/explorer/search-address.ts';

/** The view options of a folder. */
export interface Looks {
  readonly filter?: string | undefined;
  /** `name`, `type`, `size` or `changed`, with `-` in front for descending order. */
  readonly sort?: string | undefined;
  /** Default: a list. */
  readonly layout?: Layout | undefined;
}

export type Layout = 'columns' | 'grid';

/** The view options of a resource. */
export interface View {
  /** A format, as a MIME type. */
  readonly as?: string | undefined;
  /** The first byte of the window; `end` for the last window. */
  readonly from?: string | undefined;
  readonly lines?: string | undefined;
  /** `text` for the source, `bytes` for hexadecimal, `history` for the commits of a file. Default: the preview. */
  readonly show?: string | undefined;
}

export type Place =
  | ({ readonly kind: 'home' } & Looks)
  | ({ readonly kind: 'resource'; readonly uri: string } & Looks & View)
  | { readonly kind: 'search'; readonly words: string }
  | { readonly kind: 'template' | 'tool' | 'prompt'; readonly name: string };

export const OFFERS = ['template', 'tool', 'prompt'] as const;

/** The most characters of a part of an address. */
const MAX_PART = 8_192;

/** @returns undefined for an address that is not a page of the explorer */
export function placeOf({ pathname, searchParams }: URL): Place | undefined {
  const part = (name: string): string | undefined => searchParams.get(name)?.slice(0, MAX_PART) || undefined;
  const looks: Looks = {
    filter: part('filter'),
    sort: part('sort'),
    layout: layoutIn(part('layout')),
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

/** The layout of the folder that is shown beside a place. */
export const layoutOf = (place: Place): Layout | undefined =>
  place.kind === 'resource' || place.kind === 'home' ? place.layout : undefined;

/** A folder, in the layout that another place has. @param uri undefined for the roots */
export function folderBeside(place: Place, uri: string | undefined): Place {
  const layout = layoutOf(place);
  return uri === undefined ? { kind: 'home', layout } : { kind: 'resource', uri, layout };
}

/** Returns only the view options of a place's folder. */
export const looksOf = ({ filter, sort, layout }: Looks): Looks => ({ filter, sort, layout });

const queryOf = ({ filter, sort, layout }: Looks): Record<string, string | undefined> => ({ filter, sort, layout });

const layoutIn = (text: string | undefined): Layout | undefined =>
  text === 'columns' || text === 'grid' ? text : undefined;
