/** Globs of whoever writes the rules, over canonical URIs, names and types. */
import picomatch from 'picomatch';

/** Characters that no canonical URI has in it: a glob may be written with them. */
const NEVER_IN_URIS = /[^\x21-\x7e]|["<>]/gu;

const OPTIONS = { dot: true, nonegate: true };

/** Whether a canonical URI matches one of them; undefined where nothing was said. */
export function uriGlobs(globs: readonly string[] | undefined): ((uri: string) => boolean) | undefined {
  if (globs === undefined) return undefined;
  const all = globs.map((each) => {
    const glob = opened(each).normalize('NFC').replace(NEVER_IN_URIS, encodeURIComponent);
    // Asked alone: what picomatch does around an expression is for paths of a file system.
    return { glob, start: startOf(glob), expression: picomatch.makeRe(glob, OPTIONS) };
  });
  return (uri) =>
    uri !== '' &&
    all.some(({ glob, start, expression }) => uri.startsWith(start) && (glob === uri || expression.test(uri)));
}

/** Characters that stand for themselves wherever they are in a glob; a plus does where it is not before a bracket. */
const LITERAL = /^(?:[\w:/.~%-]|\+(?!\())+/;

/** What every match begins with. Most rules are about something else than what is asked for, and end here. */
function startOf(glob: string): string {
  // `a/**` is about `a` too, and alternatives need not begin alike.
  return glob.includes('|') || glob.startsWith('.') ? '' : (LITERAL.exec(glob)?.[0] ?? '').replace(/\/+$/, '');
}

/** At the end of a name, as in `docs+**`, it means what it looks like: whatever begins so. */
const opened = (glob: string): string => glob.replace(/(?<=[^/*])\*\*$/, '*{,/**}');

/** Why a glob is not what it looks like: `**` within a name is `*` alone, and what it was to hide would be seen. */
export function globProblem(globs: readonly string[] = []): string | undefined {
  const vague = globs.find((glob) => /[^/]\*\*|\*\*[^/]/.test(glob.replace(/\*\*$/, '')));
  if (vague === undefined) return undefined;
  return `in ${vague}, ** stands between slashes or at the end; write * for a part of a name`;
}

export function nameGlobs(globs: readonly string[] | undefined): ((name: string) => boolean) | undefined {
  return globs && globOf(globs);
}

const globOf = (globs: readonly string[]): ((text: string) => boolean) => picomatch([...globs], OPTIONS);
