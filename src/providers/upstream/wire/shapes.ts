/** Results that are not of their method's shape are stopped here: nothing behind looks into what cannot be there. */
import { ResourceError } from '../../../core/errors.ts';
import type { Data } from './link.ts';

/** Where the entries of a method's result are, and what each of them has at least: a text of this name. */
const ENTRIES: Readonly<Record<string, readonly [field: string, text: string | undefined]>> = {
  'resources/read': ['contents', undefined],
  'tools/call': ['content', 'type'],
  'prompts/get': ['messages', 'role'],
};

/** @throws ResourceError `internal` */
export function checkShape(method: string, result: Data, name: string): void {
  const expected = ENTRIES[method];
  if (expected === undefined || result.resultType === 'input_required') return;
  const [field, text] = expected;
  const entries: unknown = result[field];
  const isEntry = (entry: unknown): boolean =>
    typeof entry === 'object' && entry !== null && (text === undefined || typeof (entry as Data)[text] === 'string');
  // A tool may say everything in its structured content.
  if (entries === undefined && method === 'tools/call' && result.structuredContent !== undefined) return;
  if (Array.isArray(entries) && entries.every(isEntry)) return;
  throw new ResourceError('internal', `The server behind "${name}" gave an answer that is not valid`);
}
