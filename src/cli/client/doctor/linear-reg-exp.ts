/** Matches the patterns of a server's schemas in linear time: nothing can interrupt a `RegExp` that takes exponential time. */
import { RE2JS } from 're2js';

/**
 * Compiles a pattern of ECMAScript for Ajv. A pattern that RE2 does not support, such as one with a lookahead, matches every text.
 * @throws SyntaxError for a pattern that is not valid in ECMAScript
 */
function compile(pattern: string, flags: string): { test(text: string): boolean; toString(): string } {
  // Compiling takes no time to speak of; only matching does.
  const { source } = new RegExp(pattern, flags);
  // Ajv takes patterns with equal texts for one pattern.
  const named = { toString: () => source };
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
    return { ...named, test: (text) => compiled.matcher(text).find() };
  } catch {
    return { ...named, test: () => true };
  }
}

/** For `code.regExp` of Ajv. Ajv needs the name in `code` only to write a validator to a file. */
export const linearRegExp = Object.assign(compile, { code: 'linearRegExp' });
