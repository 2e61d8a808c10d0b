/** Variables of a path: which values they may have, and where these go in the arguments of a program. */
import type { RE2JS } from 're2js';
import { invalid } from '../../core/errors.ts';
import { nameProblem } from '../../core/uri.ts';

export interface Variable {
  readonly name: string;
  /** All values that it can have, where they were listed. */
  readonly values: readonly string[] | undefined;
  /** Whether it may have this value, as a whole. Linear in its length. */
  accepts(value: string): boolean;
  /** An argument may begin with its value although that begins with `-`: the configuration says so. */
  readonly mayBeOption: boolean;
}

/** A pattern that begins with a dash, whatever groups it begins with, asks for values that do. */
const ASKS_FOR_DASH = /^\^?(?:\((?:\?:)?)*\\?-/;

/** @throws ResourceError `invalid` for a pattern that is not one, or a value that no path can have */
export async function compileVariable(name: string, allowed: string | readonly string[]): Promise<Variable> {
  if (typeof allowed !== 'string') {
    for (const value of allowed) {
      const problem = nameProblem(`x${value}`);
      if (problem !== undefined) throw invalid(`The value ${JSON.stringify(value)} of "${name}": ${problem}`);
    }
    const values = new Set(allowed);
    return { name, values: [...values], accepts: (value) => values.has(value), mayBeOption: true };
  }
  const pattern = await compile(name, allowed);
  return {
    name,
    values: undefined,
    accepts: (value) => pattern.matches(value),
    mayBeOption: ASKS_FOR_DASH.test(allowed),
  };
}

async function compile(name: string, pattern: string): Promise<RE2JS> {
  const { RE2JS } = await import('re2js');
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw invalid(`The pattern of "${name}" is no regular expression of RE2: ${(error as Error).message}`);
  }
}

/** Text, and variables in it. */
export type Part = { readonly text: string } | { readonly variable: Variable };

/** Cuts a text at the `{name}` of these variables; other braces are text. */
export function partsOf(text: string, variables: ReadonlyMap<string, Variable>): readonly Part[] {
  return text.split(/(\{[A-Za-z_][A-Za-z0-9_]*\})/).flatMap((each): Part[] => {
    const variable = each.startsWith('{') ? variables.get(each.slice(1, -1)) : undefined;
    if (variable !== undefined) return [{ variable }];
    return each === '' ? [] : [{ text: each }];
  });
}

export type Values = ReadonlyMap<string, string>;

/**
 * One argument with the values in it: always one, whatever is in them. Undefined where it would begin with a dash that the
 * configuration did not ask for, as it would be taken for an option.
 */
export function argumentOf(parts: readonly Part[], values: Values): string | undefined {
  const texts = parts.map((part) => ('text' in part ? part.text : (values.get(part.variable.name) ?? '')));
  const first = parts[texts.findIndex((text) => text !== '')];
  const argument = texts.join('');
  if (!argument.startsWith('-') || first === undefined || 'text' in first) return argument;
  return first.variable.mayBeOption ? argument : undefined;
}
