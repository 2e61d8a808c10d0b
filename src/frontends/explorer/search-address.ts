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

/** Writes words as a glob that ignores the case of letters. */
export const anyCase = (words: string): string =>
  words.replace(/\p{L}/gu, (letter) => {
    const both = new Set([letter.toLowerCase(), letter.toUpperCase()]);
    return both.size === 2 && [...both].every((each) => [...each].length === 1) ? `[${[...both].join('')}]` : letter;
  });
