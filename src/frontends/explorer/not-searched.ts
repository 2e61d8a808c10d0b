/** Says on a page of results what was not searched, so that nobody takes the results for complete. */
import { type MissingPart, nameOfPart } from '../../core/notes.ts';
import { isData } from '../../protocol/data.ts';
import { TEXTS } from './texts.ts';

/** @param content the structured content of the search tool @returns undefined if everything was searched */
export function notSearched(content: unknown): string | undefined {
  const missing = isData(content) && Array.isArray(content.missing) ? content.missing.filter(isPart) : [];
  return missing.length === 0 ? undefined : TEXTS.notSearched(missing.map(nameOfPart).join('; '));
}

const isPart = (part: unknown): part is MissingPart => isData(part) && typeof part.reason === 'string';
