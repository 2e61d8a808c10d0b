/** Matches, lists and completes the templates of a definition. */
import type { Context } from '../context.ts';
import { invalid } from '../errors.ts';
import type { CompletionRequest, CompletionValues, Page, TemplatePage } from '../provider.ts';
import { parseUriTemplate, type UriTemplate } from '../uri-template.ts';
import type { DefinedTemplate, DefinedVariables } from './definition.ts';

export interface ParsedTemplate {
  readonly parsed: UriTemplate;
  readonly defined: DefinedTemplate;
}

export interface MatchedTemplate {
  readonly defined: DefinedTemplate;
  readonly variables: DefinedVariables;
}

/** @throws UriTemplateError for an invalid URI template */
export const parseTemplates = (templates: readonly DefinedTemplate[]): readonly ParsedTemplate[] =>
  templates.map((defined) => ({ parsed: parseUriTemplate(defined.uriTemplate), defined }));

/** Finds the first template that the URI matches, among those with a `read` or a `metadata` of their own. */
export function matchTemplate(templates: readonly ParsedTemplate[], uri: string): MatchedTemplate | undefined {
  for (const { parsed, defined } of templates) {
    if (defined.read === undefined && defined.metadata === undefined) continue;
    const variables = parsed.match(uri);
    if (variables !== undefined) return { defined, variables };
  }
  return undefined;
}

/** Returns a page of the templates as they are sent. The cursor is the text of the last template before the page. */
export function templatePage(templates: readonly ParsedTemplate[], { cursor, limit }: Page): TemplatePage {
  const at = cursor === undefined ? 0 : templates.findIndex(({ parsed }) => parsed.text === cursor) + 1;
  if (cursor !== undefined && at === 0) throw invalid('The cursor names a template that does not exist');
  const shown = templates.slice(at, at + limit);
  return {
    resourceTemplates: shown.map(
      ({ defined: { read: _read, metadata: _metadata, complete: _complete, ...rest } }) => rest,
    ),
    nextCursor: at + shown.length < templates.length ? shown.at(-1)?.parsed.text : undefined,
  };
}

/** @throws ResourceError `invalid` for a template or variable that does not exist */
export async function completeTemplate(
  templates: readonly ParsedTemplate[],
  { uriTemplate, variable, value, known, limit }: CompletionRequest,
  ctx: Context,
): Promise<CompletionValues> {
  const template = templates.find(({ parsed }) => parsed.text === uriTemplate);
  if (template === undefined) throw invalid('There is no such template', uriTemplate);
  if (!template.parsed.variables.includes(variable)) {
    throw invalid(`The template has no variable named ${JSON.stringify(variable)}`, uriTemplate);
  }
  const { complete = {} } = template.defined;
  const values = Object.hasOwn(complete, variable) ? await complete[variable]?.(value, known, ctx) : undefined;
  const all = [...new Set(values)].filter((candidate) => candidate.startsWith(value));
  return { values: all.slice(0, limit), total: all.length, hasMore: all.length > limit };
}
