/** Refuses results without the list that their method requires, so that later code can rely on it. */

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

/** @throws ResourceError `internal` for a result without its list of entries */
export function checkShape(method: string, result: Data, name: string): void {
  const field = ENTRIES[method];
  if (field === undefined || result.resultType === 'input_required') return;
  // The result may be a task instead; the caller knows whether that is allowed.
  if (method === 'tools/call' && (isTaskStarted(result) || isData(result.task))) return;
  const entries: unknown = result[field];
  // A tool may answer in its structured content alone.
  if (entries === undefined && field === 'content' && result.structuredContent !== undefined) return;
  if (Array.isArray(entries)) return;
  throw new ResourceError('internal', `The server behind "${name}" gave an answer that is not valid`);
}
