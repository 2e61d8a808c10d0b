/** The address of a search: `/search?q=clock`, and `&cursor=...` for its next page. */

export const SEARCH_PATH = '/search';

/** The most characters of a search's words. */
export const MAX_WORDS = 256;

export interface Sought {
  readonly words: string;
  readonly cursor?: string | undefined;
}

export const soughtOf = (query: URLSearchParams): Sought => ({
  words: (query.get('q') ?? '').trim().slice(0, MAX_WORDS),
  cursor: query.get('cursor') || undefined,
});
