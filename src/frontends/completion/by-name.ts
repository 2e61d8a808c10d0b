/** Completion by the index: behind the values that begin with what is typed come those whose name or title has words that begin so. */
import { type Context, withSignal } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { Operations } from '../../core/operations.ts';
import type { CompletionRequest } from '../../core/provider.ts';
import { isAnswering, type RankedMatch, type RankedSearch } from '../../core/ranked.ts';
import { parseUriTemplate } from '../../core/uri-template.ts';
import { inTime } from '../../core/waiting/in-time.ts';
import { DIRECTORY_MIME_TYPE } from '../../protocol/resources.ts';

/** Hits that are looked at as the caller. */
const MAX_LOOKED_AT = 200;

/** The most questions that the index is asked at once; those that take too long count until it has answered them. */
const MAX_AT_ONCE = 4;

/** Characters; fewer begin too many words. */
const MIN_TYPED = 2;

/**
 * Operations whose `complete` asks the index, too. What it finds is described as the caller before it is offered.
 * @param patienceMs how long it may take; what is not found by then is not offered
 */
export function completedByName(
  inner: Operations,
  ranked: () => RankedSearch | undefined,
  patienceMs: number,
): Operations {
  let running = 0;
  return wrapProvider(inner, {
    async complete(request, ctx) {
      const completed = (await inner.complete?.(request, ctx)) ?? { values: [], hasMore: false };
      const index = ranked();
      const isFull = completed.hasMore || completed.values.length >= request.limit;
      if (isFull || !isAnswering(index) || running >= MAX_AT_ONCE) return completed;
      const values = new Set(completed.values);
      const before = values.size;
      const over = new AbortController();
      const within = withSignal({ ...ctx, purpose: 'list' }, AbortSignal.any([ctx.signal, over.signal]));
      running++;
      const gathering = gather(index, inner, request, values, within)
        .catch((error: unknown) => {
          ctx.log.debug('the index adds nothing to a completion', { error });
          return true;
        })
        .finally(() => running--);
      const isWhole = (await inTime(gathering, patienceMs)) === true;
      over.abort();
      ctx.signal.throwIfAborted();
      if (values.size === before) return completed;
      const { total: _total, ...rest } = completed;
      return { ...rest, values: [...values], hasMore: !isWhole };
    },
  });
}

/** The folder that a variable for a path leads to, and the part of a name that has been typed. */
interface Place {
  /** URI of the folder that is typed. */
  readonly folder: string;
  /** The words of a name somewhere below it that are typed. */
  readonly typed: string;
  /** The value that makes a URI below the folder; undefined where none does. */
  readonly valueThatMakes: (uri: string) => string | undefined;
}

/** Undefined where the variable is not at the end of the path, depends on others that are not known, or too little is typed. */
function placeOf({ uriTemplate, variable, value, known }: CompletionRequest): Place | undefined {
  const expression = [`{+${variable}}`, `{${variable}}`].find((each) => uriTemplate.includes(each));
  const end = value.lastIndexOf('/') + 1;
  const typed = value.slice(end);
  if (expression === undefined || typed.length < MIN_TYPED) return undefined;
  const at = uriTemplate.indexOf(expression) + expression.length;
  const through = parseUriTemplate(uriTemplate.slice(0, at));
  const isKnown = through.variables.every((name) => name === variable || Object.hasOwn(known, name));
  if (!isKnown || uriTemplate.slice(at).includes('/')) return undefined;
  const template = parseUriTemplate(uriTemplate);
  const start = through.expand({ ...known, [variable]: value.slice(0, end) });
  const folder = start.slice(0, start.lastIndexOf('/') + 1);
  const isBelow = (uri: string): boolean => uri.length > folder.length && uri.startsWith(folder);
  return {
    folder,
    typed,
    valueThatMakes(uri) {
      const found = isBelow(uri) ? template.match(uri)?.[variable] : undefined;
      return typeof found === 'string' && template.expand({ ...known, [variable]: found }) === uri ? found : undefined;
    },
  };
}

/**
 * Adds values, the best first, until there are enough; gives whether these are all.
 * @throws ResourceError where the index cannot be asked; UriTemplateError for a value that makes no URI
 */
async function gather(
  index: RankedSearch,
  operations: Operations,
  request: CompletionRequest,
  values: Set<string>,
  ctx: Context,
): Promise<boolean> {
  const place = placeOf(request);
  if (place === undefined) return true;
  const { folder, typed, valueThatMakes } = place;
  let looked = 0;
  for await (const match of index.find({ text: typed, uri: folder, byName: true }, ctx)) {
    const value = valueThatMakes(match.uri);
    if (value === undefined) continue;
    if (values.size >= request.limit || looked++ >= MAX_LOOKED_AT) return false;
    const ending = await endingOf(operations, match, typed, ctx);
    ctx.signal.throwIfAborted();
    if (ending !== undefined) values.add(`${value}${ending}`);
  }
  return true;
}

/** A slash for a folder; undefined where the caller may not list it, or what the caller sees of it is called otherwise. */
async function endingOf(
  operations: Operations,
  { uri, passage }: RankedMatch,
  typed: string,
  ctx: Context,
): Promise<'/' | '' | undefined> {
  const resource = await operations.metadata(uri, ctx).catch(() => undefined);
  if (resource === undefined) return undefined;
  const { name, title = '', mimeType } = resource;
  if (passage.fits([name, title]).together.size < passage.fits([typed]).together.size) return undefined;
  return mimeType === DIRECTORY_MIME_TYPE ? '/' : '';
}
