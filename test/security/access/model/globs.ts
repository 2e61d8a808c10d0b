/**
 * Matches globs as the documentation describes them, in the shortest readable way: a glob without braces becomes a list of tokens, and a
 * recursive function matches them. It shares no code with the globs of the server.
 */

/** In URIs, `*` and `?` stop at slashes; in names and texts they do not. */
export type GlobKind = 'uri' | 'text';

/** Whether a glob surely matches, read as it is written. */
export function matchesSurely(glob: string, text: string, kind: GlobKind): boolean {
  const subject = kind === 'uri' ? comparable(text) : text.normalize('NFC');
  return alternativesOf(glob, kind).some((tokens) => matchFrom(tokens, 0, subject, 0));
}

/** Caches all globs so far; rules use only a few. */
const parsed = { uri: new Map<string, Alternatives>(), text: new Map<string, Alternatives>() };

function alternativesOf(glob: string, kind: GlobKind): Alternatives {
  const found = parsed[kind].get(glob) ?? alternatives(glob).map((each) => tokensOf(each, kind));
  parsed[kind].set(glob, found);
  return found;
}

/** Whether a glob may match: brackets and braces may also stand for themselves, and a trailing slash for nothing. */
export const mayMatch = (glob: string, text: string, kind: GlobKind): boolean =>
  [glob, glob.replace(/(?<!\\)[[\]{}]/g, '\\$&').replace(/(?<=[^/])\/$/, '')].some((each) =>
    matchesSurely(each, text, kind),
  );

/** Decodes the escapes in a URI, or in a part of one, that do not change its meaning. */
export function comparable(uri: string): string {
  const decoded = uri.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const text = Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8');
    if (Buffer.from(text).toString('hex') !== escapes.replaceAll('%', '').toLowerCase()) return escapes.toUpperCase();
    return text.replace(KEPT, encodeURIComponent);
  });
  return decoded
    .replace(/^[^:/]*:/, (scheme) => scheme.toLowerCase())
    .replace(/[[\]]/g, encodeURIComponent)
    .normalize('NFC');
}

const KEPT = /[/?#[\]%\u0000-\u001f\u007f]/g;

/** Expands the braces of a glob into globs without braces. */
function alternatives(glob: string): readonly string[] {
  let depth = 0;
  let open = -1;
  const commas: number[] = [];
  for (let at = 0; at < glob.length; at++) {
    if (glob[at] === '\\') at++;
    else if (glob[at] === '{' && depth++ === 0) open = at;
    else if (glob[at] === ',' && depth === 1) commas.push(at);
    else if (glob[at] === '}' && --depth === 0) {
      const cuts = [open, ...commas, at];
      const parts = cuts.slice(1).map((cut, index) => glob.slice((cuts[index] ?? 0) + 1, cut));
      return parts.flatMap((part) => alternatives(glob.slice(0, open) + part + glob.slice(at + 1)));
    }
  }
  return [glob];
}

type Token =
  | { readonly kind: 'text'; readonly text: string }
  /** One character, or any number of characters, that pass the test. */
  | { readonly kind: 'one' | 'many'; readonly test: (character: string) => boolean }
  /** Nothing, or something that is followed by a slash (`before`), or begins with one (`after`). */
  | { readonly kind: 'before' | 'after' };

type Alternatives = readonly (readonly Token[])[];

const TOKEN =
  /(?<after>\/\*\*(?=$))|(?<=^|\/)(?<before>\*\*\/)|(?<rest>\*\*$)|(?<star>\*)|(?<one>\?)|\[(?<not>!?)(?<set>[^\]]+)\]|\\(?<escaped>.)|(?<other>.)/gsu;

function tokensOf(glob: string, kind: GlobKind): readonly Token[] {
  const within = (character: string): boolean => kind === 'text' || character !== '/';
  const tokens: Token[] = [];
  for (const { groups = {} } of glob.matchAll(TOKEN)) {
    const { after, before, rest, star, one, not, set, escaped, other } = groups;
    if (set !== undefined) {
      const inSet = membersOf(set);
      tokens.push({ kind: 'one', test: (each) => within(each) && inSet(each) !== (not === '!') });
    } else if (kind === 'uri' && after !== undefined) tokens.push({ kind: 'after' });
    else if (kind === 'uri' && before !== undefined) tokens.push({ kind: 'before' });
    else if (rest !== undefined || after !== undefined || before !== undefined) {
      if (after !== undefined) tokens.push({ kind: 'text', text: '/' });
      tokens.push({ kind: 'many', test: () => true });
      if (before !== undefined) tokens.push({ kind: 'text', text: '/' });
    } else if (star !== undefined) tokens.push({ kind: 'many', test: within });
    else if (one !== undefined) tokens.push({ kind: 'one', test: within });
    else tokens.push({ kind: 'text', text: escaped ?? other ?? '' });
  }
  return joined(tokens, kind);
}

/** Joins adjacent texts, so that an escape of several bytes is decoded as a whole. */
function joined(tokens: readonly Token[], kind: GlobKind): readonly Token[] {
  const all: Token[] = [];
  for (const token of tokens) {
    const last = all.at(-1);
    if (token.kind === 'text' && last?.kind === 'text')
      all[all.length - 1] = { kind: 'text', text: last.text + token.text };
    else all.push(token);
  }
  return all.map((token) =>
    token.kind !== 'text'
      ? token
      : { kind: 'text', text: kind === 'uri' ? comparable(token.text) : token.text.normalize('NFC') },
  );
}

function membersOf(set: string): (character: string) => boolean {
  const ranges = [...set.matchAll(/(.)-(.)|(.)/gsu)].map(([, from, to, one = '']) => [from ?? one, to ?? one] as const);
  return (character) => ranges.some(([from, to]) => character >= from && character <= to);
}

function matchFrom(tokens: readonly Token[], index: number, text: string, at: number): boolean {
  const token = tokens[index];
  const rest = (next: number): boolean => matchFrom(tokens, index + 1, text, next);
  if (token === undefined) return at === text.length;
  switch (token.kind) {
    case 'text':
      return text.startsWith(token.text, at) && rest(at + token.text.length);
    case 'one': {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      return at < text.length && token.test(character) && rest(at + character.length);
    }
    case 'many':
      for (let end = at; ; end++) {
        if (rest(end)) return true;
        if (end >= text.length || !token.test(text[end] ?? '')) return false;
      }
    case 'before':
      for (let end = at; end >= 0; end = text.indexOf('/', end) + 1 || -1) if (rest(end)) return true;
      return false;
    case 'after':
      return at === text.length || text[at] === '/';
  }
}
