/** Other spellings of a URI. Some are equivalent for every server, some only for a careless one. */
import type { Thing } from './things.ts';

/** @param native without the mount's prefix; undefined if it has no such spelling */
type Spell = (native: string) => string | undefined;

const atPath =
  (change: (path: string) => string | undefined): Spell =>
  (native) => {
    const [, start, path] = /^([a-z]+:\/\/[^/]*)(\/.+)$/i.exec(native) ?? [];
    const changed = path === undefined ? undefined : change(path);
    return changed === undefined || changed === path ? undefined : `${start}${changed}`;
  };

/** Escapes a letter in the first or the last name of a path. */
const escapeIn = (path: string, at: 'first' | 'last', written = (hex: string) => `%${hex}`): string =>
  path.replace(
    at === 'first' ? /^(\/[a-z]*)([a-z])/ : /^(.*\/[a-z]*)([a-z])/,
    (_, before: string, letter: string) => before + written(letter.charCodeAt(0).toString(16)),
  );

/** Spellings that are equivalent by RFC 3986. */
const SAME: Readonly<Record<string, Spell>> = {
  'as it is': (native) => native,
  'an escaped letter': atPath((path) => escapeIn(path, 'last')),
  'an escaped letter in a folder': atPath((path) => escapeIn(path, 'first')),
  'a loud scheme': (native) => native.replace(/^[a-z]+/, (scheme) => scheme.toUpperCase()),
  'a loud escape': (native) => native.replace(/%[0-9a-f]{2}/gi, (code) => code.toLowerCase()),
};

/** Spellings of a URI without a host, which means this host. */
const SAME_HERE: Readonly<Record<string, Spell>> = {
  localhost: (native) => native.replace(/^([a-z]+:\/\/)\//i, '$1localhost/'),
  'loud localhost': (native) => native.replace(/^([a-z]+:\/\/)\//i, '$1LocalHost/'),
  'one slash': (native) => native.replace(/^([a-z]+:)\/\/\//i, '$1/'),
};

/** Spellings that only a careless server treats as equivalent. */
const CARELESS: Readonly<Record<string, Spell>> = {
  'a dot': atPath((path) => `/.${path}`),
  'two dots': atPath((path) => `/x/..${path}`),
  'two dots below': atPath((path) => path.replace(/\/([^/]+)$/, '/y/../$1')),
  'dots from elsewhere': atPath((path) => path.replace(/^\/srv\//, '/srv/pub/../')),
  'escaped dots': atPath((path) => path.replace(/^\/srv\//, '/srv/pub/%2e%2e/')),
  'half escaped dots': atPath((path) => path.replace(/^\/srv\//, '/srv/pub/.%2E/')),
  'dots escaped twice': atPath((path) => path.replace(/^\/srv\//, '/srv/pub/%252e%252e/')),
  'dots before an escaped slash': atPath((path) => path.replace(/^\/srv\//, '/srv/pub/..%2f')),
  'dots between escaped slashes': atPath((path) => path.replace(/^\/srv\//, '/srv/pub%2f..%2f')),
  'dots and a backslash': atPath((path) => path.replace(/^\/srv\//, '/srv/pub/..%5c')),
  'an escaped dot': atPath((path) => `/%2e${path}`),
  'two slashes': atPath((path) => path.replace(/\/([^/]+)$/, '//$1')),
  'four slashes': atPath((path) => `/${path}`),
  'an escaped slash': atPath((path) => path.replace(/\/([^/]+)$/, '%2F$1')),
  'an escape of an escape': atPath((path) => escapeIn(path, 'last', (hex) => `%25${hex}`)),
  'an escape of an escape in a folder': atPath((path) =>
    path.replace(
      /^(\/srv\/)([a-z])/,
      (_, before: string, letter: string) => `${before}%25${letter.charCodeAt(0).toString(16)}`,
    ),
  ),
  'a slash at the end': atPath((path) => `${path}/`),
  'a query': (native) => `${native}?x=1`,
  'lines of it': (native) => `${native}#L1`,
  'a quiet host': (native) =>
    native.replace(/^(https?:\/\/)([^/]+)/, (_, start: string, host: string) => start + host.toUpperCase()),
  'an escaped opaque letter': (native) =>
    native.replace(
      /^([a-z]+:)([a-z])/i,
      (_, start: string, letter: string) => `${start}%${letter.charCodeAt(0).toString(16)}`,
    ),
};

const ALL: Readonly<Record<string, Spell>> = { ...SAME, ...SAME_HERE, ...CARELESS };

export const SPELLINGS = Object.keys(ALL);

export interface Spelled {
  readonly uri: string;
  /** The spelling is equivalent by RFC 3986, and has no dot segments. */
  readonly same: boolean;
}

/** The URI of a thing in a spelling; unchanged if the thing has no such spelling. */
export function spelled(thing: Thing, spelling: string, loudMount: boolean): Spelled {
  const [, prefix = '', native = ''] = /^((?:ui:\/\/)?(?:docs|data|up)\+)?(.*)$/s.exec(thing.listedAs) ?? [];
  const changed = ALL[spelling]?.(native);
  const same = changed === undefined || spelling in SAME || spelling in SAME_HERE;
  const mount = loudMount ? prefix.replace(/(docs|data|up)\+$/, (name) => name.toUpperCase()) : prefix;
  return { uri: `${mount}${changed ?? native}`, same };
}
