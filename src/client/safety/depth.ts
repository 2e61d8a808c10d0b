/** Bounds the nesting of markup without parsing it: for 100 KB of opening tags, a DOM would take hours (quadratic time). */

/** The most levels of elements that are parsed. Browsers stop at 512 by themselves. */
export const MAX_DEPTH = 256;

/** The most tags in one text, at any depth. */
export const MAX_TAGS = 50_000;

/** The most tags in a text where only a parser knows which tags close: each may be nested in the one before. */
export const MAX_UNCLEAR_TAGS = 1_000;

const OPENING = /<[a-zA-Z]/g;

/**
 * Matches one token that every parser ends at the same place, in HTML and in SVG, because it contains no `<` or `>`. So
 * raw text and comments can hide only whole tokens.
 */
const TOKEN =
  /[^<]+|<!--(?:[^<>-]|-(?!-))*-->|<!doctype[^<>]*>|<\?xml[^<>]*>|<(\/?)([a-z][^\s<>/="'`]*)(?:\s+[^\s<>/="'`]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'=<>`/]+))?)*\s*(\/?)>/iy;

/** Elements that have no content in HTML, and that end foreign content. */
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img']);

/** Elements that lead from SVG back into HTML, where `/>` closes nothing. */
const LEAVES_SVG =
  /^(?:b|big|blockquote|body|br|center|code|dd|div|dl|dt|em|embed|font|h[1-6]|head|hr|i|img|li|listing|menu|meta|nobr|ol|p|pre|ruby|s|small|span|strong|strike|sub|sup|table|tt|u|ul|var|math)$/;

/** Elements that hold HTML within SVG. */
const HOLDS_HTML: ReadonlySet<string> = new Set(['foreignobject', 'desc', 'title']);

/** Whether parsing takes time proportional to the length: the markup is not too deep, and has not too many tags. */
export function isShallow(markup: string): boolean {
  const tags = markup.match(OPENING)?.length ?? 0;
  if (tags <= MAX_DEPTH) return true;
  if (tags > MAX_TAGS) return false;
  const depth = depthOf(markup);
  return depth === undefined ? tags <= MAX_UNCLEAR_TAGS : depth <= MAX_DEPTH;
}

/** Returns a depth that no parser exceeds; undefined if the end of a token is not clear. */
function depthOf(markup: string): number | undefined {
  const open: string[] = [];
  let deepest = 0;
  let leftSvg = false;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < markup.length) {
    const token = TOKEN.exec(markup);
    if (token === null) return undefined;
    const [, slash, written, selfClosing] = token;
    if (written === undefined) continue;
    const name = written.toLowerCase();
    leftSvg ||= LEAVES_SVG.test(name);
    if (slash === '/') {
      // Only the innermost element is closed: a parser may ignore any other end tag.
      if (open.at(-1) === name) open.pop();
      continue;
    }
    const inSvg = !leftSvg && open.includes('svg') && !open.some((each) => HOLDS_HTML.has(each));
    if (VOID.has(name) || (selfClosing === '/' && inSvg)) continue;
    open.push(name);
    deepest = Math.max(deepest, open.length);
    if (deepest > MAX_DEPTH) return deepest;
  }
  return deepest;
}
