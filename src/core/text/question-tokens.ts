/** The words, phrases and filters of a question as people type it. */

/** Filters narrow a question to some resources, as `type:pdf` does. Only an index has them. */
const FILTERS = ['mount', 'in', 'type', 'after', 'before', 'larger', 'smaller'] as const;

export type FilterName = (typeof FILTERS)[number];

export const isFilter = (key: string): key is FilterName => FILTERS.some((name) => name === key);

/** One token from `lastIndex` on. The groups say which: a filter or word with a colon, `NEAR(...)`, a "phrase" or a word. */
export const TOKEN =
  /\s*(?:(?<key>[a-z]+):(?:"(?<quoted>[^"]*)"|(?<value>[^\s"]+))|NEAR\((?<near>[^()]*)\)|"(?<phrase>[^"]*)"|(?<word>[^\s"]+))/gy;

/** Returns the filters in a question, as they are written. */
export const filtersIn = (text: string): readonly string[] =>
  [...text.matchAll(new RegExp(TOKEN))].flatMap(({ 0: token, groups }) =>
    groups?.key !== undefined && isFilter(groups.key) ? [token.trim()] : [],
  );
