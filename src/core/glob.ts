/**
 * A caller's glob over paths: `*` and `?` within a name, `**` over folders, `[a-z]`, `{a,b}`, and `!` before what is not
 * meant. It becomes an expression of RE2, in time linear in the path: a caller's glob never meets a backtracking engine.
 */
import { invalid } from './errors.ts';

/**
 * Whether a path below the start of a search matches; without a glob, all do. A glob without a slash is about names.
 * @throws ResourceError `invalid` for a glob that is not one
 */
export async function globFilter(glob: string | undefined): Promise<(path: string) => boolean> {
  if (glob === undefined) return () => true;
  const negated = glob.startsWith('!');
  const positive = negated ? glob.slice(1) : glob;
  const isName = !positive.includes('/');
  const { RE2JS } = await import('re2js');
  try {
    const compiled = RE2JS.compile(expressionOf(positive.replace(/^\/+/, '')), RE2JS.DOTALL);
    return (path) => compiled.matches(isName ? path.slice(path.lastIndexOf('/') + 1) : path) !== negated;
  } catch {
    throw invalid('The glob is not valid; write one such as "*.md", "src/**/*.ts" or "{a,b}/[0-9]*"');
  }
}

const TOKEN =
  /(?<folders>(?<=^|[/{,])\*\*\/)|(?<below>(?<=^|[/{,])\*\*(?=$|[,}]))|(?<star>\*+)|(?<one>\?)|\[(?<not>[!^]?)(?<set>\]?[^\]/]+)\]|\\(?<escaped>.)|(?<other>.)/gsu;

function expressionOf(glob: string): string {
  const braces = areBalanced(glob);
  let depth = 0;
  return glob.replace(TOKEN, (...args) => {
    const token = args.at(-1) as Readonly<Record<string, string | undefined>>;
    if (token.folders !== undefined) return '(?:[^/]+/)*';
    if (token.below !== undefined) return '.+';
    if (token.star !== undefined) return '[^/]*';
    if (token.one !== undefined) return '[^/]';
    if (token.set !== undefined) return classOf(token.set, token.not !== '');
    if (token.escaped !== undefined) return quote(token.escaped);
    const other = token.other ?? '';
    if (braces && other === '{') depth++;
    if (braces && other === '}') depth--;
    if (braces && (other === '{' || other === '}')) return other === '{' ? '(?:' : ')';
    return braces && depth > 0 && other === ',' ? '|' : quote(other);
  });
}

const classOf = (set: string, negated: boolean): string =>
  `[${negated ? '^/' : ''}${set.replace(/[\\[\]^&~]/g, '\\$&')}]`;

const quote = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Braces that do not fit together stand for themselves. */
function areBalanced(glob: string): boolean {
  let depth = 0;
  for (const [token] of glob.matchAll(TOKEN)) {
    if (token === '{') depth++;
    if (token === '}' && --depth < 0) return false;
  }
  return depth === 0;
}
