/** No error may have these in it when it leaves the process. */
import { homedir, tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Folders of this machine. The root of the file system is in everything. */
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
  ['a control character in letters', /\\u00(?:0[0-8be-f]|1[0-9a-f]|7f)/],
];

/** A client sends these, and the server sends them on to others: an error may not echo them to anyone. */
const NEVER: ReadonlySet<string> = new Set(['a token', 'a key', 'control characters']);

/**
 * Says what is wrong with an error; undefined if nothing is.
 * @param echoed what the client sent, as it may come back whole
 * @param wasSent whether the client sent this, so that it may come back as a part of something
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

/** Each path that begins there, as far as it goes; what only begins with the same letters is another one. */
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
