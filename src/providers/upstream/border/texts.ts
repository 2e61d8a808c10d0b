/** Texts in results of tools and prompts without what acts on a terminal or hides; what is no text for people stays. */

import type { Data } from '../../../connection/data.ts';
import { cleanText, stripUnseen } from '../../../core/text/clean-text.ts';
import { MAX_DESCRIPTION_LENGTH } from './described.ts';

/** Fields whose texts are data, or lead somewhere. */
const LEFT: ReadonlySet<string> = new Set([
  'data',
  'blob',
  'uri',
  'mimeType',
  'type',
  'requestState',
  'taskId',
  '_meta',
]);

/** Every text of a result. How deep it goes is bounded by who takes it. */
export const cleanResult = (result: Data): Data => walk(result, stripUnseen) as Data;

/** The texts of a failure, which are an error's. */
export const cleanFailure = (result: Data): Data =>
  walk(result, (text) => cleanText(text, MAX_DESCRIPTION_LENGTH)) as Data;

function walk(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => walk(each, clean));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, LEFT.has(name) ? each : walk(each, clean)]),
  );
}
