/** Checks the arguments of Vitrine's own prompts. Mounted servers check those of theirs (SEC-PROMPT-1). */
import { invalid } from '../../core/errors.ts';
import type { Prompt } from '../../core/prompt.ts';

/** The most characters of one argument. */
export const MAX_ARGUMENT_LENGTH = 32_768;

/**
 * Tabs and line breaks count as text; every other control character, separators of lines and paragraphs, and characters that
 * change the direction of text are refused (SEC-PROMPT-1).
 */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/**
 * Returns the arguments of a prompt after checking them against its declaration.
 * @throws ResourceError `invalid` for an argument that is unknown, missing, too long, or has control characters
 */
export function checkArguments(
  prompt: Prompt,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const declared = prompt.arguments ?? [];
  for (const [name, value] of Object.entries(given)) {
    if (!declared.some((argument) => argument.name === name)) {
      const names = declared.map((argument) => argument.name).join(', ');
      throw invalid(
        `The prompt ${prompt.name} has no argument ${JSON.stringify(name)}; it takes ${names === '' ? 'none' : names}`,
      );
    }
    if (value.length > MAX_ARGUMENT_LENGTH)
      throw invalid(`The argument ${name} has more than ${MAX_ARGUMENT_LENGTH} characters`);
    if (CONTROL.test(value) || !value.isWellFormed()) throw invalid(`The argument ${name} contains control characters`);
  }
  const missing = declared.filter((argument) => argument.required && !Object.hasOwn(given, argument.name));
  if (missing.length > 0)
    throw invalid(`The prompt ${prompt.name} needs ${missing.map((argument) => argument.name).join(', ')}`);
  return given;
}
