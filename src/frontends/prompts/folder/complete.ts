/** Suggests values for an argument: those in its file, or names of resources if the prompt embeds a resource by it (SEC-UTIL-5). */
import type { Context } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import type { ResourceProvider } from '../../../core/provider.ts';
import { parseUriTemplate, type TemplateVariables, type UriTemplate } from '../../../core/uri-template.ts';
import type { ResourceTemplate } from '../../../protocol/resources.ts';
import type { DeclaredArgument } from './head.ts';
import type { TemplateNode } from './template.ts';

/** The most names that are looked at for one list of suggestions. Names that do not fit the template are left out. */
const MAX_CANDIDATES = 1_000;

/** The most templates of the mounts that are looked at. */
const MAX_TEMPLATES = 100;

/** Returns suggestions for an argument, those that begin with the typed text first. */
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
  // The index also finds names that only contain a word with this beginning. These come last.
  return [...found].sort((a, b) => Number(begins(b)) - Number(begins(a)));
}

/** A template, cut before and after the expression of one variable. */
interface Cut {
  /** The template up to the expression, without it. */
  readonly before: UriTemplate;
  /** The template up to the end of the expression. */
  readonly through: UriTemplate;
  /** Whether a slash follows the expression, so that the variable names containers. */
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

/** Returns undefined if the expression has several variables, or an operator other than `+`. */
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

/**
 * Returns URIs that begin with `start` and the typed value, from the first template of the mounts that can complete them. URIs of
 * containers end in a slash.
 */
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
    // `%`, `?` and `#` are encoded, as in the values that the template suggests.
    const typed = start.slice(literal.length) + value.replace(/[%?#]/g, encodeURIComponent);
    const request = { uriTemplate, variable, value: typed, known: {}, limit: MAX_CANDIDATES };
    const { values } = (await provider.complete?.(request, ctx).catch(nothingWhenRefused)) ?? { values: [] };
    const whole = parseUriTemplate(uriTemplate);
    return values.map((each) => whole.expand({ [variable]: each }));
  }
  return [];
}

/** Splits a template whose only variable is at its end, such as `docs+file:///{+path}`; undefined for any other template. */
function lastVariable(
  uriTemplate: ResourceTemplate['uriTemplate'],
): { readonly literal: string; readonly variable: string } | undefined {
  const found = /^([^{]*)\{\+?([A-Za-z0-9_]+)\}$/.exec(uriTemplate);
  const [, literal, variable] = found ?? [];
  return literal === undefined || variable === undefined ? undefined : { literal, variable };
}

/** Returns nothing for a refusal, so that suggestions do not reveal whether a hidden resource exists. @throws any other error */
function nothingWhenRefused(error: unknown): { readonly values: readonly string[] } {
  if (error instanceof ResourceError && !error.retryable && error.code !== 'internal') return { values: [] };
  throw error;
}
