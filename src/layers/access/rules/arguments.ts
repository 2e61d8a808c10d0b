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

/** Matches a single value literally, since nobody knows how a tool treats a list or an object. */
function surely(values: readonly ArgumentValue[]): (given: unknown) => boolean {
  const globs = compileGlobs(globsOf(values), 'text');
  const exact = new Set<unknown>(values.filter((value) => typeof value !== 'string' || value === ''));
  return (given) => exact.has(given) || (typeof given === 'string' && globs?.matches(given) === true);
}

/** The most levels of nested lists and objects that are searched; deeper ones count as a match. */
const MAX_DEPTH = 32;

/** Matches any value that a tool could treat as a match: anything inside a list or an object, and a number as text. */
function possibly(values: readonly ArgumentValue[]): (given: unknown) => boolean {
  const globs = compileGlobs(globsOf(values), 'text');
  const exact = new Set(values.filter((value) => typeof value !== 'string' || value === '').map(String));
  const fits = (text: string): boolean => exact.has(text.trim().toLowerCase()) || globs?.mayMatch(text) === true;
  const within = (given: unknown, depth: number): boolean => {
    if (typeof given !== 'object' || given === null) return fits(String(given));
    return depth >= MAX_DEPTH || Object.values(given).some((value) => within(value, depth + 1));
  };
  return (given) => within(given, 0);
}
