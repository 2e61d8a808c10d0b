/** Templates of programs, and completion of variables from the values that were listed for them (RES-3). */
import { invalid } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../../core/provider.ts';
import { type Entry, templateOf } from './programs.ts';

/** A page; the position is the last one's text. */
export function templatePage(entries: readonly Entry[], { cursor, limit }: Page): TemplatePage {
  const all = entries.map(templateOf);
  const start = cursor === undefined ? 0 : all.findIndex(({ uriTemplate }) => uriTemplate === cursor) + 1;
  if (cursor !== undefined && start === 0) throw invalid('The cursor names a template that does not exist');
  const shown = all.slice(start, start + limit);
  return {
    resourceTemplates: shown,
    nextCursor: start + shown.length < all.length ? shown.at(-1)?.uriTemplate : undefined,
  };
}

/** @throws ResourceError `invalid` for a template or variable that there is not */
export function completeVariable(
  entries: readonly Entry[],
  { uriTemplate, variable: name, value, limit }: CompletionRequest,
): CompletionValues {
  const entry = entries.find((each) => templateOf(each).uriTemplate === uriTemplate);
  if (entry === undefined) throw invalid('There is no such template', uriTemplate);
  const variable = entry.variables.get(name);
  if (variable === undefined) throw invalid(`The template has no variable named ${JSON.stringify(name)}`, uriTemplate);
  const values = (variable.values ?? []).filter((each) => each.startsWith(value));
  return { values: values.slice(0, limit), total: values.length, hasMore: values.length > limit };
}
