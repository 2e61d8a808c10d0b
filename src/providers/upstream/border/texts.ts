/**
 * Cleans the texts in results of tools and prompts: removes escape sequences, control characters and invisible characters.
 * Fields that are not for people, such as URIs and data, stay as they are.
 */

import type { Data } from '../../../connection/data.ts';
import { cleanText, stripUnseen } from '../../../core/text/clean-text.ts';
import { MAX_DESCRIPTION_LENGTH } from './described.ts';

/** Fields whose texts are not for people: they are data, addresses or identifiers. */
const NOT_FOR_PEOPLE: ReadonlySet<string> = new Set([
  'data',
  'blob',
  'uri',
  'mimeType',
  'type',
  'requestState',
  'taskId',
  '_meta',
]);

/** Cleans every text of a result. The caller has limited its depth. */
export const cleanResult = (result: Data): Data => walk(result, stripUnseen) as Data;

/** Cleans the texts of a failed result, and cuts each to `MAX_DESCRIPTION_LENGTH`. */
export const cleanFailure = (result: Data): Data =>
  walk(result, (text) => cleanText(text, MAX_DESCRIPTION_LENGTH)) as Data;

function walk(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => walk(each, clean));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, NOT_FOR_PEOPLE.has(name) ? field : walk(field, clean)]),
  );
}
