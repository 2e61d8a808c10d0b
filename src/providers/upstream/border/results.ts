/** Checks results of an upstream's tools and prompts: an invalid block or message is left out, and the result says so. */

import type { Data } from '../../../connection/data.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { Invocation } from '../../../core/invocation.ts';
import type { MissingPart } from '../../../core/notes.ts';
import { isData } from '../../../protocol/data.ts';
import { MISSING_META_KEY } from '../../../protocol/meta.ts';
import { extentOf } from './extent.ts';
import type { Border } from './index.ts';
import { cleanFailure, cleanResult } from './texts.ts';

/** The most characters of one result, and the most levels of its data. */
export const MAX_RESULT_CHARACTERS = 32 * 1024 * 1024;
const MAX_RESULT_DEPTH = 256;

/** The most values in a result: structured content is checked and sent without a pause. */
const MAX_RESULT_VALUES = 100_000;

/**
 * Returns a result within the limits. Its texts are cleaned if it is a failure, or if `texts` requires that.
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
  new ResourceError('too-large', `The result of the server behind "${mount}" ${problem}; ask for less`);

/**
 * Returns the result without its invalid parts.
 * @throws ResourceError `internal` where nothing valid is left
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

/** The other fields of a result, each with its check; an invalid field is dropped. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  _meta: isData,
  isError: (value) => typeof value === 'boolean',
  description: (value) => typeof value === 'string',
};

function wellFormed(result: Data): Data {
  const isGood = ([field, value]: [string, unknown]): boolean =>
    !Object.hasOwn(FIELDS, field) || FIELDS[field]?.(value) !== false;
  const entries = Object.entries(result);
  return entries.every(isGood) ? result : Object.fromEntries(entries.filter(isGood));
}
