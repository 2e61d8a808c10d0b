/** Lists templates, and completes their variables from the values in the configuration or the document of an API (RES-3). */
import { invalid } from '../../core/errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../../core/provider.ts';
import { describeTemplate, type WebTemplate } from './templates.ts';

/** Makes a page of templates. Its cursor is the text of the last template. */
export function templatePage(templates: readonly WebTemplate[], { cursor, limit }: Page): TemplatePage {
  const at = cursor === undefined ? 0 : templates.findIndex(({ text }) => text === cursor) + 1;
  if (cursor !== undefined && at === 0) throw invalid('The cursor names a template that does not exist');
  const page = templates.slice(at, at + limit);
  return {
    resourceTemplates: page.map(describeTemplate),
    nextCursor: at + page.length < templates.length ? page.at(-1)?.text : undefined,
  };
}

/** Completes a variable. @throws ResourceError `invalid` for an unknown template or variable */
export function completeVariable(
  templates: readonly WebTemplate[],
  { uriTemplate, variable, value, limit }: CompletionRequest,
): CompletionValues {
  const template = templates.find(({ text }) => text === uriTemplate);
  if (template === undefined) throw invalid('There is no such template', uriTemplate);
  if (!template.parsed.variables.includes(variable))
    throw invalid(`The template has no variable named ${JSON.stringify(variable)}`, uriTemplate);
  const all = [...new Set(template.values.get(variable))].filter((listed) => listed.startsWith(value));
  return { values: all.slice(0, limit), total: all.length, hasMore: all.length > limit };
}
