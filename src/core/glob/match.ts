/**
 * Matches the tokens of a glob against a text: after each token it knows which places in the text can be reached. Texts come from
 * callers, so nothing is tried twice: the time grows with the length of the text times that of the glob at most.
 */
import type { Range, Token } from './parse.ts';

type Tokens = readonly Token[];

/** Tells whether a whole text matches one of the globs. Its first and last character tell which few of them to try. */
export function matcherOf(all: readonly Tokens[]): (text: string) => boolean {
  const exact = new Set<string>();
  const byBegin = new Map<string | undefined, Tokens[]>();
  const byEnd = new Map<string | undefined, Tokens[]>();
  const others: Tokens[] = [];
  for (const tokens of all) {
    const begin = tokens[0]?.kind === 'literal' ? tokens[0].text : '';
    const last = tokens.at(-1);
    const end = last?.kind === 'literal' ? last.text : '';
    if (tokens.length === 1 && begin !== '') exact.add(begin);
    else if (begin !== '') add(byBegin, begin[0], tokens);
    else if (end !== '') add(byEnd, end.at(-1), tokens);
    else others.push(tokens);
  }
  return (text) => {
    const fits = (tokens: Tokens): boolean => matchesTokens(tokens, text);
    return (
      exact.has(text) ||
      byBegin.get(text[0])?.some(fits) === true ||
      byEnd.get(text.at(-1))?.some(fits) === true ||
      others.some(fits)
    );
  };
}

function add<K>(to: Map<K, Tokens[]>, key: K, tokens: Tokens): void {
  const list = to.get(key);
  if (list === undefined) to.set(key, [tokens]);
  else list.push(tokens);
}

function matchesTokens(tokens: Tokens, text: string): boolean {
  const [first] = tokens;
  if (first?.kind === 'literal' && !text.startsWith(first.text)) return false;
  const end = tokens.at(-1);
  if (end?.kind === 'literal' && !text.endsWith(end.text)) return false;
  // Most texts lack one of the literals, and this is cheaper than finding places.
  for (const token of tokens) if (token.kind === 'literal' && !text.includes(token.text)) return false;
  let places: readonly number[] = [0];
  for (const token of tokens) {
    places = after(token, text, places);
    if (places.length === 0) return false;
  }
  // Places are in order, so the last one is the furthest.
  return places.at(-1) === text.length;
}

function after(token: Token, text: string, places: readonly number[]): readonly number[] {
  switch (token.kind) {
    case 'literal':
      return places.flatMap((at) => (text.startsWith(token.text, at) ? at + token.text.length : []));
    case 'one':
      return places.flatMap((at) => characterAfter(text, at, token.slashes, () => true));
    case 'set':
      return places.flatMap((at) =>
        characterAfter(text, at, token.slashes, (code) => has(token.ranges, code) !== token.negated),
      );
    case 'star':
      return upToSlash(text, places);
    case 'any':
      return rangeOf(places[0] ?? 0, text.length);
    case 'segments':
      return afterSlashes(text, places);
    case 'below':
      return places.some((at) => at === text.length || text[at] === '/') ? [text.length] : [];
  }
}

const SLASH = 0x2f;

function characterAfter(
  text: string,
  at: number,
  slashes: boolean,
  fits: (code: number) => boolean,
): readonly number[] | number {
  const code = text.codePointAt(at);
  if (code === undefined || (code === SLASH && !slashes) || !fits(code)) return [];
  return at + (code > 0xffff ? 2 : 1);
}

const has = (ranges: readonly Range[], code: number): boolean =>
  ranges.some(([first, last]) => code >= first && code <= last);

function upToSlash(text: string, places: readonly number[]): readonly number[] {
  const reached: number[] = [];
  for (const at of places) {
    // A place in a segment that was already walked to its end reaches nothing new.
    if (at <= (reached.at(-1) ?? -1)) continue;
    const slash = text.indexOf('/', at);
    const end = slash === -1 ? text.length : slash;
    for (let next = at; next <= end; next++) reached.push(next);
  }
  return reached;
}

function afterSlashes(text: string, places: readonly number[]): readonly number[] {
  const first = places[0] ?? 0;
  const reached = new Set(places);
  for (let slash = text.indexOf('/', first); slash !== -1; slash = text.indexOf('/', slash + 1)) reached.add(slash + 1);
  return [...reached].sort((a, b) => a - b);
}

const rangeOf = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);
