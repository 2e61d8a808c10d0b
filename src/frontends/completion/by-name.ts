/**
 * Completes with the index: after the values that begin with the typed text come values of resources whose name or title has words
 * that begin with it.
 */
import { type Context, withSignal } from '../../core/context.ts';
import { wrapProvider } from '../../core/layer.ts';
import type { Operations } from '../../core/operations.ts';
import type { CompletionRequest } from '../../core/provider.ts';
import { isAnswering, type RankedMatch, type RankedSearch } from '../../core/ranked.ts';
import { parseUriTemplate } from '../../core/uri-template.ts';
import { inTime } from '../../core/waiting/in-time.ts';
import { DIRECTORY_MIME_TYPE } from '../../protocol/resources.ts';

/** The most hits whose metadata is requested for the caller. */
const MAX_LOOKED_AT = 200;

/** The most searches in the index at a time. A search that takes too long counts until it ends. */
const MAX_AT_ONCE = 4;

/** The least characters of a search. Too many words begin with fewer. */
const MIN_TYPED = 2;

/**
 * Returns operations whose `complete` also searches the index. A hit is offered only if the caller can get its metadata.
 * @param patienceMs how long the search may take, in milliseconds; later hits are not offered
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
      const timeout = new AbortController();
      const searchCtx = withSignal({ ...ctx, purpose: 'list' }, AbortSignal.any([ctx.signal, timeout.signal]));
      running++;
      const gathering = gather(index, inner, request, values, searchCtx)
        .catch((error: unknown) => {
          ctx.log.debug('the index adds nothing to a completion', { error });
          return true;
        })
        .finally(() => running--);
      const isWhole = (await inTime(gathering, patienceMs)) === true;
      timeout.abort();
      ctx.signal.throwIfAborted();
      if (values.size === before) return completed;
      const { total: _total, ...rest } = completed;
      return { ...rest, values: [...values], hasMore: !isWhole };
    },
  });
}

/** A path value that is being typed: its folder, and the part of a name. */
interface Place {
  /** The URI of the folder, from the value up to its last slash. */
  readonly folder: string;
  /** The rest of the value: words of a name somewhere below the folder. */
  readonly typed: string;
  /** Returns the value of the variable that expands to a URI below the folder; undefined if there is none. */
  readonly valueFor: (uri: string) => string | undefined;
}

/** Returns undefined if the variable is not at the end of the path, depends on variables without a value, or too little is typed. */
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
    valueFor(uri) {
      const found = isBelow(uri) ? template.match(uri)?.[variable] : undefined;
      return typeof found === 'string' && template.expand({ ...known, [variable]: found }) === uri ? found : undefined;
    },
  };
}

/**
 * Adds values, the best first, until there are enough.
 * @returns whether these are all
 * @throws ResourceError if the index does not answer; UriTemplateError for a value that cannot be expanded
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
  const { folder, typed, valueFor } = place;
  let looked = 0;
  for await (const match of index.find({ text: typed, uri: folder, byName: true }, ctx)) {
    const value = valueFor(match.uri);
    if (value === undefined) continue;
    if (values.size >= request.limit || looked++ >= MAX_LOOKED_AT) return false;
    const ending = await endingOf(operations, match, typed, ctx);
    ctx.signal.throwIfAborted();
    if (ending !== undefined) values.add(`${value}${ending}`);
  }
  return true;
}

/**
 * Returns a slash for a folder, and an empty text for any other resource; undefined if the caller may not see the resource, or
 * sees it under a name that does not match.
 */
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
