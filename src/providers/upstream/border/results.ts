/** Results of tools and prompts at the border: a block or message that is not valid is left out, and the result says so. */

import type { Data } from '../../../connection/data.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { Invocation } from '../../../core/invocation.ts';
import type { MissingPart } from '../../../core/notes.ts';
import { MISSING_META_KEY } from '../../../protocol/meta.ts';
import { extentOf } from './extent.ts';
import type { Border } from './index.ts';
import { cleanFailure, cleanResult } from './texts.ts';

/** Characters of one result, and how deep its data may lie in each other. */
export const MAX_RESULT_CHARACTERS = 32 * 1024 * 1024;
const MAX_RESULT_DEPTH = 256;

/** Values in it: structured content is looked through and sent in one go. */
const MAX_RESULT_VALUES = 100_000;

/**
 * A result as it may be handed on: of a size, and with its texts as they are wanted.
 * @throws ResourceError `too-large`
 */
export function fitResult(mount: string, result: Data, texts: 'as-is' | 'clean'): Data {
  const { characters, depth, values } = extentOf(result, MAX_RESULT_CHARACTERS, MAX_RESULT_DEPTH, MAX_RESULT_VALUES);
  if (depth > MAX_RESULT_DEPTH) throw tooLarge(mount, `is nested deeper than ${MAX_RESULT_DEPTH} levels`);
  if (characters > MAX_RESULT_CHARACTERS) throw tooLarge(mount, `has more than ${MAX_RESULT_CHARACTERS} characters`);
  if (values > MAX_RESULT_VALUES) throw tooLarge(mount, `has more than ${MAX_RESULT_VALUES} values`);
  if (result.isError === true) return cleanFailure(result);
  return texts === 'clean' ? cleanResult(result) : result;
}

const tooLarge = (mount: string, problem: string): ResourceError =>
  new ResourceError('too-large', `The result of the server behind "${mount}" ${problem}; ask it for less`);

/**
 * The result without what in it is not valid.
 * @throws ResourceError `internal` where nothing is left of it
 */
export async function keptResult(
  border: Border,
  method: 'tools/call' | 'prompts/get',
  result: Data,
  invocation: Invocation,
): Promise<Data> {
  const [field, kind] = method === 'tools/call' ? (['content', 'block'] as const) : (['messages', 'message'] as const);
  const answer = wellFormed(result);
  const given: unknown = answer[field];
  if (!Array.isArray(given)) return answer;
  const missing: MissingPart[] = [];
  const notes = { fresh() {}, plain() {}, passOn() {}, missing: (part: MissingPart) => void missing.push(part) };
  const kept = await border.keep(kind, given, { ...invocation, notes });
  const [first] = missing;
  if (first === undefined)
    return kept.every((each, index) => each === given[index]) ? answer : { ...answer, [field]: kept };
  if (kept.length === 0 && answer.structuredContent === undefined) {
    throw new ResourceError('internal', `The server behind "${first.mount}" gave an answer that is not valid`);
  }
  return { ...answer, [field]: kept, _meta: { ...(answer._meta ?? {}), [MISSING_META_KEY]: missing } };
}

/** The other fields of a result, each with its check; a field that fails its check is dropped. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  _meta: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  isError: (value) => typeof value === 'boolean',
  description: (value) => typeof value === 'string',
};

function wellFormed(result: Data): Data {
  const isGood = ([field, value]: [string, unknown]): boolean =>
    !Object.hasOwn(FIELDS, field) || FIELDS[field]?.(value) !== false;
  const entries = Object.entries(result);
  return entries.every(isGood) ? result : Object.fromEntries(entries.filter(isGood));
}
