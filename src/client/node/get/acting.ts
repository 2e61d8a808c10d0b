/** Turns names that tools act on into names that no tool acts on. */
import { ResourceClientError } from '../../errors.ts';
import { foldName, plainName } from '../../file-names.ts';
import { ACTING_NAMES, type ActingNames } from './acting-names.ts';

/** The position of a name in a path. */
export interface Standing {
  /** The name is directly in the folder that `get` writes to. */
  readonly top: boolean;
  /** The name is that of a file, not of a folder. */
  readonly file: boolean;
}

interface Pattern {
  readonly where: ActingNames['where'];
  fits(plain: string): boolean;
}

const PATTERNS: readonly Pattern[] = ACTING_NAMES.flatMap(({ where, names }) =>
  names.map((name): Pattern => {
    const [begin = '', end] = foldName(name).split('*');
    if (end === undefined) return { where, fits: (plain) => plain === begin };
    return {
      where,
      fits: (plain) => plain.length > begin.length + end.length - 1 && plain.startsWith(begin) && plain.endsWith(end),
    };
  }),
);

/** Whether a tool acts on the name at its position; without a position, whether a tool acts on it at any. */
export function actsAs(name: string, standing: Standing = { top: true, file: true }): boolean {
  const plain = plainName(name);
  const { top, file } = standing;
  const holds = ({ where }: Pattern): boolean => where === 'anywhere' || (where === 'top' ? top : file);
  return PATTERNS.some((pattern) => holds(pattern) && pattern.fits(plain));
}

/** A name that Windows may take for the short name of another file, as `git~1` for `.git`. */
const SHORT_NAME = /^(?=[^.]{1,8}(?:\.[^.]{0,3})?$)[^.]*~[0-9a-z]{1,6}(?:\.|$)/u;

/**
 * Returns the name, changed if a tool acts on it, or if Windows may take it for the short name of another file.
 * @param keep names that stay although tools act on them, as `plainName` gives them
 */
export function inertName(name: string, standing: Standing, keep: ReadonlySet<string>): string {
  const long = SHORT_NAME.test(plainName(name)) ? name.replace(/[~\uff5e]/gu, '%7E') : name;
  if (keep.has(plainName(long)) || !actsAs(long, standing)) return long;
  const prefixed = `_${long}`;
  // A tool that looks at the end of the name still acts on it: a `_` at the end stops that.
  return actsAs(prefixed, standing) ? `${prefixed}_` : prefixed;
}

/**
 * Returns names to keep, as `plainName` gives them.
 * @throws ResourceClientError `invalid` for a name on which no tool acts, since it is kept anyway
 */
export function keptNames(names: readonly string[]): ReadonlySet<string> {
  for (const name of names) {
    if (!actsAs(name))
      throw new ResourceClientError('invalid', `No tool acts on the name "${name}": get keeps it anyway`);
  }
  return new Set(names.map(plainName));
}
