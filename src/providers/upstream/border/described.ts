/**
 * Cleans the texts by which another server describes itself and its entries: names, titles and descriptions. People and
 * models see these before they have asked for anything, so they are always cleaned and shortened.
 */

import { BY_NAME_KEYWORDS, DATA_KEYWORDS } from '../../../core/schema/keywords.ts';
import { cleanText } from '../../../core/text/clean-text.ts';
import { type Data, isData } from '../../../protocol/data.ts';

/** The most characters of a name or title, of a description, and of a server's instructions. */
export const MAX_TITLE_LENGTH = 1_024;
export const MAX_DESCRIPTION_LENGTH = 32_768;

const LENGTHS: Readonly<Record<string, number>> = {
  name: MAX_TITLE_LENGTH,
  title: MAX_TITLE_LENGTH,
  description: MAX_DESCRIPTION_LENGTH,
};

/** Returns an entry with clean texts, also in its annotations, arguments and schemas. */
export function cleanDescribed(entry: Data): Data {
  return mapped(withCleanTexts(entry), {
    annotations: (value) => (isData(value) ? withCleanTexts(value) : value),
    arguments: (value) =>
      Array.isArray(value) ? value.map((each) => (isData(each) ? withCleanTexts(each) : each)) : value,
    inputSchema: cleanSchema,
    outputSchema: cleanSchema,
  });
}

function withCleanTexts(value: Data): Data {
  let result = value;
  for (const [field, maxLength] of Object.entries(LENGTHS)) {
    const text = value[field];
    if (typeof text !== 'string') continue;
    const clean = cleanText(text, maxLength);
    if (clean !== text) result = { ...result, [field]: clean };
  }
  return result;
}

function mapped(value: Data, changes: Readonly<Record<string, (value: unknown) => unknown>>): Data {
  let result = value;
  for (const [field, change] of Object.entries(changes)) {
    if (!Object.hasOwn(value, field)) continue;
    const now = change(value[field]);
    if (now !== value[field]) result = { ...result, [field]: now };
  }
  return result;
}

/** The caller of this function has bounded the depth of the schema. */
function cleanSchema(value: unknown): unknown {
  if (Array.isArray(value)) {
    const now = value.map(cleanSchema);
    return now.some((each, index) => each !== value[index]) ? now : value;
  }
  if (!isData(value)) return value;
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => {
    if (DATA_KEYWORDS.has(name)) return [name, each];
    if (BY_NAME_KEYWORDS.has(name) && isData(each)) return [name, mapValues(each, cleanSchema)];
    if (typeof each !== 'string') return [name, cleanSchema(each)];
    const maxLength = COMMENTS.get(name);
    return [name, maxLength === undefined ? each : cleanText(each, maxLength)];
  });
  return entries.some(([name, each]) => each !== value[name]) ? Object.fromEntries(entries) : value;
}

/** Keywords of a JSON Schema that describe the data without restricting it, with the most characters of each. */
const COMMENTS: ReadonlyMap<string, number> = new Map([
  ['title', MAX_TITLE_LENGTH],
  ['description', MAX_DESCRIPTION_LENGTH],
  ['$comment', MAX_DESCRIPTION_LENGTH],
]);

function mapValues(value: Data, change: (value: unknown) => unknown): Data {
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [name, change(each)]);
  return entries.some(([name, each]) => each !== value[name]) ? Object.fromEntries(entries) : value;
}
