/** Suggestions for an argument: those its file has, or the resources that a template with it can name (SEC-UTIL-5). */
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { parseUriTemplate, type TemplateVariables, type UriTemplate } from '../../../core/uri-template.ts';
import type { ResourceTemplate } from '../../../protocol/resources.ts';
import type { DeclaredArgument } from './head.ts';
import type { TemplateNode } from './template.ts';

/** The most names that are looked at for one suggestion list; what does not fit the template is left out of it. */
const MAX_CANDIDATES = 1_000;

/** The most templates of the mounts that are looked at. */
const MAX_TEMPLATES = 100;

export async function completeArgument(
  argument: DeclaredArgument,
  value: string,
  known: Readonly<Record<string, string>>,
  nodes: readonly TemplateNode[],
  provider: ResourceProvider,
  ctx: Context,
): Promise<readonly string[]> {
  const begins = (candidate: string): boolean => candidate.toLowerCase().startsWith(value.toLowerCase());
  if (argument.values !== undefined) return argument.values.filter(begins);
  const found = new Set<string>();
  for (const node of nodes) {
    if (node.kind !== 'resource' || !node.uri.variables.includes(argument.name)) continue;
    for (const candidate of await namesFor(node.uri, argument.name, value, known, provider, ctx)) found.add(candidate);
  }
  // Those that were found by a word of their names come last.
  return [...found].sort((a, b) => Number(begins(b)) - Number(begins(a)));
}

/** A template cut behind the expression of one variable. */
interface Cut {
  /** Up to the expression. */
  readonly before: UriTemplate;
  readonly through: UriTemplate;
  /** The template goes on below it, so its values name containers. */
  readonly container: boolean;
}

async function namesFor(
  template: UriTemplate,
  variable: string,
  value: string,
  known: Readonly<Record<string, string>>,
  provider: ResourceProvider,
  ctx: Context,
): Promise<readonly string[]> {
  const cut = cutAt(template, variable);
  if (cut === undefined || cut.before.variables.some((name) => (known[name] ?? '') === '')) return [];
  const start = cut.before.expand(known);
  const whole = cut.container ? cut.through : template;
  const names: string[] = [];
  for (const uri of await resourcesFrom(start, value, provider, ctx)) {
    if (cut.container && !uri.endsWith('/')) continue;
    const variables = whole.match(cut.container ? uri.slice(0, -1) : uri);
    const name = variables?.[variable];
    if (typeof name === 'string' && name !== '' && agrees(variables ?? {}, cut.before.variables, known))
      names.push(name);
  }
  return names;
}

const agrees = (found: TemplateVariables, names: readonly string[], known: Readonly<Record<string, string>>): boolean =>
  names.every((name) => found[name] === known[name]);

/** Undefined where the variable shares its expression with others, or is written in a way that names no resource. */
function cutAt({ text }: UriTemplate, variable: string): Cut | undefined {
  const expression = [`{${variable}}`, `{+${variable}}`].find((each) => text.includes(each));
  if (expression === undefined) return undefined;
  const at = text.indexOf(expression);
  const end = at + expression.length;
  return {
    before: parseUriTemplate(text.slice(0, at)),
    through: parseUriTemplate(text.slice(0, end)),
    container: text[end] === '/',
  };
}

/** URIs that begin so, from whichever template of the mounts can complete them; containers end in a slash. */
async function resourcesFrom(
  start: string,
  value: string,
  provider: ResourceProvider,
  ctx: Context,
): Promise<readonly string[]> {
  const listed = await provider.listTemplates?.({ limit: MAX_TEMPLATES }, ctx);
  for (const { uriTemplate } of listed?.resourceTemplates ?? []) {
    const { literal, variable } = lastVariable(uriTemplate) ?? {};
    if (literal === undefined || variable === undefined || !start.startsWith(literal)) continue;
    // Reserved characters are escaped as the template's own values are.
    const typed = start.slice(literal.length) + value.replace(/[%?#]/g, encodeURIComponent);
    const request = { uriTemplate, variable, value: typed, known: {}, limit: MAX_CANDIDATES };
    const { values } = (await provider.complete?.(request, ctx).catch(nothingWhenRefused)) ?? { values: [] };
    const whole = parseUriTemplate(uriTemplate);
    return values.map((each) => whole.expand({ [variable]: each }));
  }
  return [];
}

/** A template of one variable that stands at its end, as in `docs+file:///{+path}`. */
function lastVariable(
  uriTemplate: ResourceTemplate['uriTemplate'],
): { readonly literal: string; readonly variable: string } | undefined {
  const found = /^([^{]*)\{\+?([A-Za-z0-9_]+)\}$/.exec(uriTemplate);
  const [, literal, variable] = found ?? [];
  return literal === undefined || variable === undefined ? undefined : { literal, variable };
}

/** Suggestions must not tell what is missing from what is not to be seen. */
function nothingWhenRefused(error: unknown): { readonly values: readonly string[] } {
  if (error instanceof ResourceError && !error.retryable && error.code !== 'internal') return { values: [] };
  throw error;
}
