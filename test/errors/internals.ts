/** Finds text in errors that no error may contain when it leaves the process. */
import { homedir, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Folders of this machine, except the root of the file system, with which every path begins. */
const PLACES = [ROOT, homedir(), `${tmpdir()}/vitrine-`].filter((place) => place.length > 1);

const PATTERNS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a frame of a stack', /(?:^|\n|\\n)\s*at (?:async )?\S.*:\d+:\d+/],
  ['a module', /node_modules|node:internal|\.(?:ts|mjs|js):\d+:\d+/],
  [
    'an error of the system',
    /\bE(?:CONN[A-Z]+|NOENT|ACCES|PERM|ISDIR|NOTDIR|EXIST|MFILE|NFILE|PIPE|BADF|INVAL|LOOP|NAMETOOLONG|ADDRINUSE|HOSTUNREACH|NETUNREACH|TIMEDOUT|AI_AGAIN|NOTFOUND)\b|getaddrinfo|\berrno\b|\bsyscall\b/,
  ],
  ['SQL', /\b(?:SELECT\b.+\bFROM|INSERT\s+INTO|UPDATE\b.+\bSET|DELETE\s+FROM)\b/],
  ['a token', /\bBearer\s+[\w.~+/-]{8,}|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}|\bgh[pousr]_\w{30,}|\bAKIA[0-9A-Z]{16}\b/],
  ['a key', /-----BEGIN [A-Z ]*PRIVATE KEY/],
  ['a thrown value of the language', /\b(?:Type|Range|Reference|Syntax)Error\b|\[object Object\]|Cannot read propert/],
  ['control characters', /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/],
  ['an escaped control character', /\\u00(?:0[0-8be-f]|1[0-9a-f]|7f)/],
];

/** An error may not contain these even if the client has sent them. */
const NEVER: ReadonlySet<string> = new Set(['a token', 'a key', 'control characters']);

/**
 * Says what is wrong with an error; undefined if nothing is.
 * @param echoed texts of the client, which may come back whole
 * @param wasSent whether the client sent this fragment, which may then come back within other text
 */
export function internalsIn(
  error: unknown,
  echoed: readonly string[] = [],
  wasSent: (fragment: string) => boolean = () => false,
): string | undefined {
  const text = echoed.reduce((rest, each) => rest.replaceAll(each, ''), textOf(error));
  const place = PLACES.find((each) => pathsUnder(each, text).some((path) => !wasSent(path)));
  if (place !== undefined) return `a path of this machine (${place})`;
  return PATTERNS.find(([what, pattern]) =>
    [...text.matchAll(new RegExp(pattern, 'g'))].some(([found]) => NEVER.has(what) || !wasSent(found)),
  )?.[0];
}

/** Returns the whole of each path in the text that begins with the place. `/home/ab` does not begin with `/home/a`. */
const pathsUnder = (place: string, text: string): readonly string[] =>
  text
    .split(place)
    .slice(1)
    .filter((rest) => place.endsWith('-') || !/^[\w-]/.test(rest))
    .map((rest) => place + (/^[^\s"'`<>()]*/.exec(rest)?.[0].replace(/[.,:;]+$/, '') ?? ''));

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, each]) => `${key}: ${textOf(each)}`)
    .join('\n');
};
