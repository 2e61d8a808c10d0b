/** Globs of whoever writes the rules, over canonical URIs, names and types. */
import picomatch from 'picomatch';

/** Characters that no canonical URI has in it: a glob may be written with them. */
const NEVER_IN_URIS = /[^\x21-\x7e]|["<>]/gu;

/** Whether a canonical URI matches one of them; undefined where nothing was said. */
export function uriGlobs(globs: readonly string[] | undefined): ((uri: string) => boolean) | undefined {
  if (globs === undefined) return undefined;
  return globOf(globs.map((glob) => glob.normalize('NFC').replace(NEVER_IN_URIS, encodeURIComponent)));
}

export function nameGlobs(globs: readonly string[] | undefined): ((name: string) => boolean) | undefined {
  return globs && globOf(globs);
}

const globOf = (globs: readonly string[]): ((text: string) => boolean) =>
  picomatch([...globs], { dot: true, nonegate: true });
