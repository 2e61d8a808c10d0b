/** Results that are not of their method's shape are stopped here: nothing behind looks into what cannot be there. */

import type { Data } from '../../../connection/data.ts';
import { ResourceError } from '../../../core/errors.ts';
import { isData } from '../../../protocol/data.ts';
import { isTaskStarted } from '../../../protocol/tasks.ts';

/** The key of the entries in a method's result. */
const ENTRIES: Readonly<Record<string, string>> = {
  'resources/read': 'contents',
  'tools/call': 'content',
  'tasks/result': 'content',
  'prompts/get': 'messages',
};

/** @throws ResourceError `internal` */
export function checkShape(method: string, result: Data, name: string): void {
  const field = ENTRIES[method];
  if (field === undefined || result.resultType === 'input_required') return;
  // Whether it may be one, the caller knows.
  if (method === 'tools/call' && (isTaskStarted(result) || isData(result.task))) return;
  const entries: unknown = result[field];
  // A tool may say everything in its structured content.
  if (entries === undefined && field === 'content' && result.structuredContent !== undefined) return;
  if (Array.isArray(entries)) return;
  throw new ResourceError('internal', `The server behind "${name}" gave an answer that is not valid`);
}
