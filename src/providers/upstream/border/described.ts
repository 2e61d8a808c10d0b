/**
 * The texts by which another server describes itself and what it has: names, titles and descriptions. They are shown to
 * people and given to models before anybody has asked for anything, so they are always clean and never endless.
 */

import { BY_NAME_KEYWORDS, DATA_KEYWORDS } from '../../../core/schema/keywords.ts';
import { cleanText } from '../../../core/text/clean-text.ts';
import { type Data, isData } from '../../../protocol/data.ts';

/** Characters of a name or title, of a description, and of what a server says of how it wants to be used. */
export const MAX_TITLE_LENGTH = 1_024;
export const MAX_DESCRIPTION_LENGTH = 32_768;

const LENGTHS: Readonly<Record<string, number>> = {
  name: MAX_TITLE_LENGTH,
  title: MAX_TITLE_LENGTH,
  description: MAX_DESCRIPTION_LENGTH,
};

/** An entry with its own texts, those of its annotations and arguments, and those in its schemas clean. */
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

/** How deep it goes is bounded by who takes the entry. */
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

/** Keywords of a JSON Schema that say something to its reader and nothing about the data. */
const COMMENTS: ReadonlyMap<string, number> = new Map([
  ['title', MAX_TITLE_LENGTH],
  ['description', MAX_DESCRIPTION_LENGTH],
  ['$comment', MAX_DESCRIPTION_LENGTH],
]);

function mapValues(value: Data, change: (value: unknown) => unknown): Data {
  const entries = Object.entries(value).map(([name, each]): [string, unknown] => [name, change(each)]);
  return entries.some(([name, each]) => each !== value[name]) ? Object.fromEntries(entries) : value;
}
