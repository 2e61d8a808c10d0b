/** Whether a rule is about the arguments of a call. */
import { compileGlobs } from '../../../core/glob/index.ts';
import type { AccessRule, ArgumentValue } from './options.ts';

type Given = Readonly<Record<string, unknown>>;

/** Without arguments the question is whether there are any: then it matches what can match, to allow and to ask. */
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

/** The globs among them; an empty text is a value, and no glob. */
export const globsOf = (values: ArgumentValue | readonly ArgumentValue[]): readonly string[] =>
  valuesOf(values).filter((value) => typeof value === 'string' && value !== '') as readonly string[];

/** One value, as it was meant: what a tool makes of a list or an object, nobody knows. */
function surely(values: readonly ArgumentValue[]): (given: unknown) => boolean {
  const globs = compileGlobs(globsOf(values), 'text');
  const exact = new Set<unknown>(values.filter((value) => typeof value !== 'string' || value === ''));
  return (given) => exact.has(given) || (typeof given === 'string' && globs?.matches(given) === true);
}

/** Lists and objects within others are looked into this deep; deeper ones are taken for what is meant. */
const MAX_DEPTH = 32;

/** Whatever a tool could take for it: anything within a list or an object, and a number as its text. */
function possibly(values: readonly ArgumentValue[]): (given: unknown) => boolean {
  const globs = compileGlobs(globsOf(values), 'text');
  const exact = new Set(values.filter((value) => typeof value !== 'string' || value === '').map(String));
  const fits = (text: string): boolean => exact.has(text.trim().toLowerCase()) || globs?.mayMatch(text) === true;
  const within = (given: unknown, depth: number): boolean => {
    if (typeof given !== 'object' || given === null) return fits(String(given));
    return depth >= MAX_DEPTH || Object.values(given).some((each) => within(each, depth + 1));
  };
  return (given) => within(given, 0);
}
