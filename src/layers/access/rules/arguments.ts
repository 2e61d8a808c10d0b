/** Decides whether a rule applies to the arguments of a call. */
import { compileGlobs } from '../../../core/glob/index.ts';
import type { AccessRule, ArgumentValue } from './options.ts';

type Given = Readonly<Record<string, unknown>>;

/** Undefined arguments ask whether any arguments could match: rules that allow or ask then match, others do not. */
export function argumentTest({ arguments: wanted, effect }: AccessRule): (given: Given | undefined) => boolean {
  if (wanted === undefined) return () => true;
  const valueTest = effect === 'allow' ? surely : possibly;
  const tests = Object.entries(wanted).map(([name, values]) => [name, valueTest(valuesOf(values))] as const);
  const possible = effect === 'allow' || effect === 'ask';
  return (given) => {
    if (given === undefined) return possible;
    return tests.every(([name, test]) => Object.hasOwn(given, name) && test(given[name]));
  };
}

const valuesOf = (values: ArgumentValue | readonly ArgumentValue[]): readonly ArgumentValue[] =>
  Array.isArray(values) ? (values as readonly ArgumentValue[]) : [values as ArgumentValue];

/** Returns the globs among the values; an empty text is a plain value. */
export const globsOf = (values: ArgumentValue | readonly ArgumentValue[]): readonly string[] =>
  valuesOf(values).filter((value) => typeof value === 'string' && value !== '') as readonly string[];

/** Matches a single value as it is written, and no list or object, since nobody knows how a tool treats these. */
function surely(values: readonly ArgumentValue[]): (given: unknown) => boolean {
  const globs = compileGlobs(globsOf(values), 'text');
  const exact = new Set<unknown>(values.filter((value) => typeof value !== 'string' || value === ''));
  return (given) => exact.has(given) || (typeof given === 'string' && globs?.matches(given) === true);
}

/** The most levels of nested lists and objects that are searched; deeper ones count as a match. */
const MAX_DEPTH = 32;

/**
 * Matches any value that a tool could treat as a match: anything inside a list or an object, a number however it is written, and
 * words and numbers that stand for a boolean.
 */
function possibly(values: readonly ArgumentValue[]): (given: unknown) => boolean {
  const globs = compileGlobs(globsOf(values), 'text');
  const words = new Set(values.flatMap(wordsOf));
  const numbers = new Set(values.flatMap((value) => numberOf(value) ?? []));
  const fits = (text: string): boolean => {
    if (globs?.mayMatch(text) === true) return true;
    const word = folded(text);
    if (words.has(word)) return true;
    const number = numbers.size === 0 ? undefined : numberIn(word);
    return number !== undefined && numbers.has(number);
  };
  const within = (given: unknown, depth: number): boolean => {
    if (typeof given !== 'object' || given === null) return fits(String(given));
    return depth >= MAX_DEPTH || Object.values(given).some((value) => within(value, depth + 1));
  };
  return (given) => within(given, 0);
}

const folded = (text: string): string => text.normalize('NFKC').trim().toLowerCase();

/** Words that tools take for a boolean. */
const WORDS = { true: ['true', 't', 'yes', 'y', 'on'], false: ['false', 'f', 'no', 'n', 'off'] } as const;

/** Returns the words that may stand for a value of a rule; texts are globs, except for the empty one. */
function wordsOf(value: ArgumentValue): readonly string[] {
  if (typeof value === 'boolean') return WORDS[`${value}`];
  if (typeof value === 'number') return value === 1 ? ['true'] : value === 0 ? ['false'] : [];
  return value === '' ? [''] : [];
}

const numberOf = (value: ArgumentValue): number | undefined =>
  typeof value === 'string' ? numberIn(folded(value)) : Number(value);

/** Returns the number that a text is in any common notation, such as `1.0`, `+01`, `1e0`, `1_000` and `0x1`. */
function numberIn(text: string): number | undefined {
  const [, sign, digits = ''] = /^([+-]?)(0[xob][\da-f]+|[\d.]+(?:e[+-]?\d+)?)$/.exec(text.replaceAll('_', '')) ?? [];
  const number = digits === '' ? Number.NaN : Number(digits);
  return Number.isNaN(number) ? undefined : sign === '-' ? -number : number;
}
