/** The variables of a path: which values they may have, and how a value is put into the arguments of a program. */
import type { RE2JS } from 're2js';
import { invalid } from '../../core/errors.ts';
import { nameProblem } from '../../core/uri.ts';

export interface Variable {
  readonly name: string;
  /** All allowed values, if the configuration lists them. */
  readonly values: readonly string[] | undefined;
  /** Whether the whole value is allowed. Takes time in proportion to its length. */
  accepts(value: string): boolean;
  /** Whether an argument may begin with a value that begins with `-`, because the configuration has such values in mind. */
  readonly mayBeOption: boolean;
}

/** Matches a pattern that begins with a dash, after any opening groups: its values are meant to begin with one. */
const ASKS_FOR_DASH = /^\^?(?:\((?:\?:)?)*\\?-/;

/**
 * @param allowed a pattern (RE2), or the list of values
 * @throws ResourceError `invalid` for a pattern that cannot be parsed, or a value that cannot be part of a path
 */
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
    throw invalid(`The pattern of "${name}" is not a regular expression of RE2: ${(error as Error).message}`);
  }
}

/** A piece of a path segment or of an argument: text, or a variable. */
export type Part = { readonly text: string } | { readonly variable: Variable };

/** Splits a text at each `{name}` of these variables. Other braces stay text. */
export function partsOf(text: string, variables: ReadonlyMap<string, Variable>): readonly Part[] {
  return text.split(/(\{[A-Za-z_][A-Za-z0-9_]*\})/).flatMap((piece): Part[] => {
    const variable = piece.startsWith('{') ? variables.get(piece.slice(1, -1)) : undefined;
    if (variable !== undefined) return [{ variable }];
    return piece === '' ? [] : [{ text: piece }];
  });
}

export type Values = ReadonlyMap<string, string>;

/**
 * Puts the values into one argument. It stays one argument, whatever characters the values have. Undefined if a value would
 * make the argument begin with a dash, so that the program takes it for an option, unless the variable's `mayBeOption` allows it.
 */
export function argumentOf(parts: readonly Part[], values: Values): string | undefined {
  const texts = parts.map((part) => ('text' in part ? part.text : (values.get(part.variable.name) ?? '')));
  const first = parts[texts.findIndex((text) => text !== '')];
  const argument = texts.join('');
  if (!argument.startsWith('-') || first === undefined || 'text' in first) return argument;
  return first.variable.mayBeOption ? argument : undefined;
}
