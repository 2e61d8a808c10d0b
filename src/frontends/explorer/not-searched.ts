/** Says on a page of results what was not searched, so that nobody takes them for all there is. */
import { isData } from '../../protocol/data.ts';
import { TEXTS } from './texts.ts';

/** @param content the structured content of the search tool @returns undefined if everything was searched */
export function notSearched(content: unknown): string | undefined {
  const missing = isData(content) && Array.isArray(content.missing) ? content.missing.filter(isData) : [];
  if (missing.length === 0) return undefined;
  const named = missing.map(({ mount, reason }) => (mount === undefined ? `${reason}` : `${mount} (${reason})`));
  return TEXTS.notSearched(named.join('; '));
}
