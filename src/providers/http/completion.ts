/** Templates in pages, and the values that a configuration or the document of an API gives their variables (RES-3). */
import { invalid } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../../core/provider.ts';
import { describeTemplate, type WebTemplate } from './templates.ts';

/** The position is the text of the last one. */
export function templatePage(templates: readonly WebTemplate[], { cursor, limit }: Page): TemplatePage {
  const at = cursor === undefined ? 0 : templates.findIndex(({ text }) => text === cursor) + 1;
  if (cursor !== undefined && at === 0) throw invalid('The cursor names a template that is not there');
  const shown = templates.slice(at, at + limit);
  return {
    resourceTemplates: shown.map(describeTemplate),
    nextCursor: at + shown.length < templates.length ? shown.at(-1)?.text : undefined,
  };
}

/** @throws ResourceError `invalid` for a template or variable that there is not */
export function completeVariable(
  templates: readonly WebTemplate[],
  { uriTemplate, variable, value, limit }: CompletionRequest,
): CompletionValues {
  const template = templates.find(({ text }) => text === uriTemplate);
  if (template === undefined) throw invalid('There is no such template', uriTemplate);
  if (!template.parsed.variables.includes(variable))
    throw invalid(`The template has no variable named ${JSON.stringify(variable)}`, uriTemplate);
  const all = [...new Set(template.values.get(variable))].filter((each) => each.startsWith(value));
  return { values: all.slice(0, limit), total: all.length, hasMore: all.length > limit };
}
