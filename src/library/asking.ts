/** Lets a program read, list and watch the tree by function calls. Layers and limits apply as for a client. */
import { createContext, type Principal } from '../core/context.ts';
import type { Engine } from '../engine/index.ts';
import { listForClient } from '../frontends/resources/list.ts';
import { readConfirmed } from '../frontends/resources/read.ts';
import { ACCEPT_META_KEY, RANGE_META_KEY } from '../protocol/meta.ts';
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
   * @throws ResourceError `not-found`, `denied`, `too-large`, `limited`
   */
  read(uri: string, options?: ReadOptions): Promise<readonly ResourceContents[]>;
  /**
   * Lists the children of a container; without a URI, the default list. Fetches each page when it is needed (2093-4).
   * @throws ResourceError `not-found`, `not-listable`, `denied`, `limited`
   */
  list(uri?: string, options?: AskOptions): AsyncIterable<Resource>;
  /**
   * Calls back after each change of a resource, or of the list when `uri` is undefined, from the moment the promise resolves
   * until the handle is disposed: `await using watching = await vitrine.watch(uri, changed)`.
   * @throws ResourceError `denied`, `limited`
   */
  watch(uri: string | undefined, onChange: () => void, options?: AskOptions): Promise<AsyncDisposable>;
}

export function createAsking({ provider, resources, admission }: Engine): Asking {
  const contextOf = ({ principal, signal }: AskOptions) =>
    createContext({ ...(principal && { principal }), ...(signal && { signal }) });

  return {
    async read(uri, options = {}) {
      const { range, accept } = options;
      const ctx = contextOf(options);
      const _meta = { ...(range && { [RANGE_META_KEY]: range }), ...(accept && { [ACCEPT_META_KEY]: [...accept] }) };
      const { contents } = await admission.run({ method: 'resources/read', uri }, ctx, () =>
        readConfirmed(resources, { uri, _meta }, ctx),
      );
      return contents;
    },

    async *list(uri, options = {}) {
      const method = 'resources/list';
      const ctx = contextOf(options);
      let cursor: string | undefined;
      do {
        const params = { uri, cursor };
        const page = await admission.run({ method, uri }, ctx, () => listForClient(resources, method, params, ctx));
        yield* page.resources;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
    },

    watch: (uri, onChange, options = {}) =>
      provider.subscribe(uri === undefined ? { list: 'resources' } : { uri }, onChange, contextOf(options)),
  };
}
