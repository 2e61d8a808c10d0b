/** Lists the templates of programs, and completes their variables from the values that the configuration lists (RES-3). */
import { invalid } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../../core/provider.ts';
import { type Entry, templateOf } from './programs.ts';

/** Returns one page of templates. The cursor is the text of the last template before the page. */
export function templatePage(entries: readonly Entry[], { cursor, limit }: Page): TemplatePage {
  const all = entries.map(templateOf);
  const start = cursor === undefined ? 0 : all.findIndex(({ uriTemplate }) => uriTemplate === cursor) + 1;
  if (cursor !== undefined && start === 0) throw invalid('The cursor names a template that does not exist');
  const page = all.slice(start, start + limit);
  return {
    resourceTemplates: page,
    nextCursor: start + page.length < all.length ? page.at(-1)?.uriTemplate : undefined,
  };
}

/** @throws ResourceError `invalid` for a template or a variable that does not exist */
export function completeVariable(
  entries: readonly Entry[],
  { uriTemplate, variable: name, value, limit }: CompletionRequest,
): CompletionValues {
  const entry = entries.find((candidate) => templateOf(candidate).uriTemplate === uriTemplate);
  if (entry === undefined) throw invalid('There is no such template', uriTemplate);
  const variable = entry.variables.get(name);
  if (variable === undefined) throw invalid(`The template has no variable named ${JSON.stringify(name)}`, uriTemplate);
  const values = (variable.values ?? []).filter((listed) => listed.startsWith(value));
  return { values: values.slice(0, limit), total: values.length, hasMore: values.length > limit };
}
