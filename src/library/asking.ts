/** Lets a program read, list and watch the tree by function calls. Layers and limits apply as for a client. */
import type { z } from 'zod';
import { type Context, createContext, type Principal } from '../core/context.ts';
import { invalid, ResourceError } from '../core/errors.ts';
import { sayProblems } from '../core/text/problems.ts';
import type { Engine } from '../engine/index.ts';
import { listForClient } from '../frontends/resources/list.ts';
import { readConfirmed } from '../frontends/resources/read.ts';
import { ACCEPT_META_KEY, RANGE_META_KEY } from '../protocol/meta.ts';
import { accept, listParams, range, subscribeParams } from '../protocol/methods.ts';
import type { Resource, ResourceContents } from '../protocol/resources.ts';

export interface AskOptions {
  /** The principal whose rules and limits apply. Default: `ANONYMOUS`. */
  readonly principal?: Principal | undefined;
  /** Aborts the operation. Default: no signal. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends AskOptions {
  /** The part to read, in bytes. Default: the whole, within the limit `maxReadBytes`. */
  readonly range?: { readonly offset?: number | undefined; readonly length?: number | undefined } | undefined;
  /** The wanted media types of a resource with several formats, the best first. Default: all formats. */
  readonly accept?: readonly string[] | undefined;
}

export interface Asking {
  /**
   * Reads a resource: one item, one for each format, or the children of a container (2093-1, 2093-5, 2093-6). Refuses a
   * read that a human would have to confirm.
   * @throws ResourceError `not-found`, `denied`, `too-large`, `limited`, `invalid`; `internal` with the error of a provider or a
   *   layer as its cause
   */
  read(uri: string, options?: ReadOptions): Promise<readonly ResourceContents[]>;
  /**
   * Lists the children of a container; without a URI, the default list. Fetches each page when it is needed (2093-4).
   * @throws ResourceError `not-found`, `not-listable`, `denied`, `limited`, `invalid`, `internal`
   */
  list(uri?: string, options?: AskOptions): AsyncIterable<Resource>;
  /**
   * Calls back after each change of a resource, or of the list when `uri` is undefined, from the moment the promise resolves
   * until the handle is disposed, or the signal aborts: `await using watching = await vitrine.watch(uri, changed)`.
   * @throws ResourceError `denied`, `limited`, `invalid`, `internal`
   */
  watch(uri: string | undefined, onChange: () => void, options?: AskOptions): Promise<AsyncDisposable>;
}

/** The options of a read, under the rules for requests of clients. */
const readOptions = subscribeParams.extend({ range: range.optional(), accept: accept.optional() });

export function createAsking({ provider, resources, admission }: Engine): Asking {
  const contextOf = ({ principal, signal }: AskOptions) =>
    createContext({ ...(principal && { principal }), ...(signal && { signal }) });

  return {
    async read(uri, options = {}) {
      const ctx = contextOf(options);
      const wanted = checked(readOptions, { ...options, uri });
      const _meta = {
        ...(wanted.range && { [RANGE_META_KEY]: wanted.range }),
        ...(wanted.accept && { [ACCEPT_META_KEY]: wanted.accept }),
      };
      const { contents } = await answered(ctx, () =>
        admission.run({ method: 'resources/read', uri }, ctx, () => readConfirmed(resources, { uri, _meta }, ctx)),
      );
      return contents;
    },

    async *list(uri, options = {}) {
      const method = 'resources/list';
      const ctx = contextOf(options);
      let cursor: string | undefined;
      do {
        const params = checked(listParams, { uri, cursor });
        const page = await answered(ctx, () =>
          admission.run({ method, uri }, ctx, () => listForClient(resources, method, params, ctx)),
        );
        yield* page.resources;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
    },

    async watch(uri, onChange, options = {}) {
      const { signal } = options;
      const ctx = contextOf(options);
      const changed = (): void => {
        if (signal?.aborted !== true) onChange();
      };
      const watched =
        uri === undefined ? { list: 'resources' as const } : { uri: checked(subscribeParams, { uri }).uri };
      signal?.throwIfAborted();
      const watching = await answered(ctx, () => provider.subscribe(watched, changed, ctx));
      if (signal === undefined) return watching;
      const handle = endedBy(signal, watching);
      if (signal.aborted) await handle[Symbol.asyncDispose]();
      signal.throwIfAborted();
      return handle;
    },
  };
}

/** Checks parameters as those of a client. @throws ResourceError `invalid` */
function checked<T>(schema: z.ZodType<T>, params: unknown): T {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw invalid(sayProblems(parsed.error.issues));
}

/** Runs an operation. Whatever fails in it is a ResourceError, or comes from the signal. */
async function answered<T>({ signal }: Context, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof ResourceError || signal.aborted) throw cause;
    throw new ResourceError('internal', 'A provider or a layer failed; the cause has its error', { cause });
  }
}

/** Ends a watch when the signal aborts, or when it is disposed. */
function endedBy(signal: AbortSignal, watching: AsyncDisposable): AsyncDisposable {
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    signal.removeEventListener('abort', leave);
    ended ??= Promise.resolve(watching[Symbol.asyncDispose]());
    return ended;
  };
  // Whoever disposes the handle gets the error.
  const leave = (): void => void end().catch(() => {});
  signal.addEventListener('abort', leave);
  return { [Symbol.asyncDispose]: end };
}
