/**
 * Checks results of tools against their `outputSchema`, and marks or replaces a result that breaks it. Strict clients
 * refuse such a result themselves, others would never know.
 */

import type { Data } from '../../../connection/data.ts';
import { checkAgainst } from '../../../core/schema/check.ts';
import { BROKEN_RESULT_META_KEY } from '../../../protocol/meta.ts';

/** Says what is wrong with a result; undefined where nothing is, and for a failure, of which nothing is promised. */
export function brokenPromise(outputSchema: unknown, result: Data): string | undefined {
  if (outputSchema === undefined || result.isError === true) return undefined;
  const { structuredContent } = result;
  if (structuredContent === undefined) return 'structuredContent is missing';
  const { problem, gaveUp } = checkAgainst(outputSchema, structuredContent);
  return problem ?? (gaveUp ? 'its outputSchema takes too long to be looked at' : undefined);
}

/** The result, saying to programs and to models that it is not what the tool promises. */
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

/** In the place of the result: a failure, for a model that can try another way. */
export function refusedResult(problem: string): Data {
  const text = `The result was not what the tool's outputSchema says, and is not given: ${problem}`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { [BROKEN_RESULT_META_KEY]: problem } };
}
