/** Names that tools act on, made into names that nobody acts on. */
import { ResourceClientError } from '../../errors.ts';
import { foldName, plainName } from '../../file-names.ts';
import { ACTING_NAMES, type ActingNames } from './acting-names.ts';

/** The place of a name. */
export interface Standing {
  /** It is in the folder that is written to, and not further below. */
  readonly top: boolean;
  /** It is the name of a file. */
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

/** Whether a tool acts on the name, wherever it stands or there. */
export function actsAs(name: string, standing: Standing = { top: true, file: true }): boolean {
  const plain = plainName(name);
  const { top, file } = standing;
  const holds = ({ where }: Pattern): boolean => where === 'anywhere' || (where === 'top' ? top : file);
  return PATTERNS.some((pattern) => holds(pattern) && pattern.fits(plain));
}

/** A name that Windows may take for the short name of another file, as `git~1` for `.git`. */
const SHORT_NAME = /^(?=[^.]{1,8}(?:\.[^.]{0,3})?$)[^.]*~[0-9a-z]{1,6}(?:\.|$)/u;

/** The name, or one beside it on which no tool acts. @param keep names that may act, as `plainName` gives them */
export function inertName(name: string, standing: Standing, keep: ReadonlySet<string>): string {
  const long = SHORT_NAME.test(plainName(name)) ? name.replace(/[~\uff5e]/gu, '%7E') : name;
  if (keep.has(plainName(long)) || !actsAs(long, standing)) return long;
  const begun = `_${long}`;
  // A tool that goes by the end of a name still acts on it: a `_` follows as well.
  return actsAs(begun, standing) ? `${begun}_` : begun;
}

/** @throws ResourceClientError `invalid` for a name that is written as it is anyway */
export function keptNames(names: readonly string[]): ReadonlySet<string> {
  for (const name of names) {
    if (!actsAs(name))
      throw new ResourceClientError('invalid', `No tool acts on the name "${name}": get keeps it anyway`);
  }
  return new Set(names.map(plainName));
}
