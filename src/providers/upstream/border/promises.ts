/**
 * Checks results of tools against their `outputSchema`, and marks or replaces a result that breaks it. Strict clients
 * refuse such a result themselves; other clients would not notice.
 */

import type { Data } from '../../../connection/data.ts';
import { checkAgainst } from '../../../core/schema/check.ts';
import { BROKEN_RESULT_META_KEY } from '../../../protocol/meta.ts';

/** Returns what is wrong with a result; undefined if nothing is, or if it is a failure, for which the schema does not hold. */
export function brokenPromise(outputSchema: unknown, result: Data): string | undefined {
  if (outputSchema === undefined || result.isError === true) return undefined;
  const { structuredContent } = result;
  if (structuredContent === undefined) return 'structuredContent is missing';
  const { problem, gaveUp } = checkAgainst(outputSchema, structuredContent);
  return problem ?? (gaveUp ? 'checking it against the outputSchema takes too long' : undefined);
}

/** Marks a result that breaks its schema, for programs and for models. */
export function markedResult(result: Data, problem: string): Data {
  const meta = typeof result._meta === 'object' ? result._meta : undefined;
  const content = Array.isArray(result.content) ? result.content : [];
  const text = `This result is not what the tool's outputSchema says: ${problem}`;
  return {
    ...result,
    content: [{ type: 'text', text }, ...content],
    _meta: { ...meta, [BROKEN_RESULT_META_KEY]: problem },
  };
}

/** Makes the failure that replaces a result that breaks its schema, so that a model can try another way. */
export function refusedResult(problem: string): Data {
  const text = `The result was not what the tool's outputSchema says, and is not given: ${problem}`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { [BROKEN_RESULT_META_KEY]: problem } };
}
