/** Sends requests that change nothing to an upstream, over the client's connection. If that breaks, sends the request once more. */

import { freshnessIn } from '../../connection/results.ts';
import { type Context, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { detached, type Invocation } from '../../core/invocation.ts';
import { keyed } from '../../core/keyed.ts';
import type { OutgoingRequest } from '../../core/trace.ts';
import { isNotModified, versionsIn } from '../../protocol/content-version.ts';
import { type Data, isData } from '../../protocol/data.ts';
import { CLIENT_CAPABILITIES_KEY, IF_VERSION_META_KEY, SERVER_INFO_KEY } from '../../protocol/meta.ts';
import type { Cache } from './cache.ts';
import type { Calls } from './calls.ts';
import { askable, capabilitiesOf } from './clients.ts';
import { type Connections, REQUEST_WAITS } from './connections.ts';
import { isStdio, type UpstreamOptions } from './options.ts';
import { sendTraced } from './traced.ts';
import type { Link } from './wire/link.ts';

export const DEFAULT_TIMEOUT_MS = 10_000;
export const DEFAULT_CALL_TIMEOUT_MS = 300_000;

export interface Asking {
  /**
   * Returns the answer of the upstream, or a cached one that is still fresh. How long it is fresh goes to the context's notes.
   * @param versions whether the server answers conditional reads. If so, it sends cached contents that are no longer fresh
   * again only if they have changed
   */
  ask(method: string, key: string, params: Data, ctx: Context, versions?: boolean): Promise<Data>;
  /** Returns the connection that requests of this client go over. */
  link(ctx: Context): Promise<Link>;
}

export function createAsking(options: UpstreamOptions, connections: Connections, cache: Cache, calls: Calls): Asking {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, log = SILENT, name } = options;

  const linkOf = async (ctx: Context): Promise<Link> =>
    (await connections.of(ctx)).supervisor.get(ctx.signal, REQUEST_WAITS);

  const outgoing = (method: string, { uri }: Data): OutgoingRequest => ({
    method,
    mount: name,
    transport: isStdio(options.target) ? 'pipe' : 'tcp',
    ...(typeof uri === 'string' && { uri }),
  });

  async function send(method: string, params: Data, ctx: Context): Promise<Data> {
    for (let attempt = 1; ; attempt++) {
      const link = await linkOf(ctx);
      if (method === 'resources/read' && link.era === 'legacy' && comesBack(ctx)) return readInRounds(params, ctx);
      try {
        return await sendTraced(ctx, outgoing(method, params), withClient(params, link, ctx), (sent) =>
          link.request(method, sent, { signal: ctx.signal, timeoutMs }),
        );
      } catch (error) {
        // The connection broke during the request. The request changes nothing, so it can go over another one.
        const broke = link.ended && error instanceof ResourceError && error.code === 'unavailable';
        if (!broke || attempt > 1 || ctx.signal.aborted) throw error;
        log.debug('asked again over another connection', { mount: name, method });
      }
    }
  }

  /**
   * Reads from a 2025-era server for a client that gets questions as the answer to its request. The read waits here until
   * another request of the client brings the client's answers.
   */
  async function readInRounds({ inputResponses, requestState, ...params }: Data, ctx: Context): Promise<Data> {
    const invocation: Invocation = {
      ...detached(ctx),
      ...(ctx.client !== undefined && { client: ctx.client }),
      answers: keyed(inputResponses as Data | undefined),
      state: requestState,
      // The frontend that asks the client seals the state.
      seal: (state) => state as string,
    };
    const waitMs = options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS;
    const outcome = await calls.run(invocation, {
      reads: true,
      lease: () => connections.forCall(invocation),
      send: ({ link }, { signal }) =>
        sendTraced(ctx, outgoing('resources/read', params), params, (sent) =>
          link.request('resources/read', sent, { signal, timeoutMs: waitMs }),
        ),
    });
    return 'asks' in outcome ? { ...outcome.asks } : outcome.result;
  }

  return {
    link: linkOf,
    async ask(method, key, params, ctx, versions = false) {
      const audience = JSON.stringify([ctx.principal.id, capabilitiesOf(ctx)]);
      const cached = cache.get(method, key, audience);
      const forgotten = cache.forgotten;
      const old = cached === undefined && versions ? cache.old(method, key, audience) : undefined;
      const result =
        cached ?? renewed(old, await send(method, old === undefined ? params : ifChanged(params, old), ctx));
      if (cached === undefined && result.resultType !== 'input_required')
        cache.put(method, key, audience, result, forgotten);
      const hint = freshnessIn(result);
      if (hint === undefined) ctx.notes?.plain();
      else ctx.notes?.fresh(hint);
      return result;
    },
  };
}

/** Makes a read conditional: the server sends contents only if they differ from those of the cached answer. */
const ifChanged = (params: Data, old: Data): Data => ({
  ...params,
  _meta: { ...(params._meta as Data | undefined), [IF_VERSION_META_KEY]: versionsIn(old) },
});

/** If the new answer says that nothing has changed, returns the cached one with the freshness of the new one. */
function renewed(old: Data | undefined, result: Data): Data {
  if (old === undefined || !isNotModified(result)) return result;
  const { ttlMs: _ttl, cacheScope: _scope, ...lasting } = old;
  return { ...lasting, ...freshnessIn(result) };
}

/** Whether the client gets questions as the answer to its request, and answers them in another request. */
const comesBack = (ctx: Context): boolean => askable(ctx) && ctx.client?.ask === undefined;

const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';

/**
 * Adds the client's capabilities, not the gateway's, to a request of 2026-07-28, which requires them in every request.
 * @param logs whether to add the log level that the client wants
 */
export function withClient(params: Data, { era }: Pick<Link, 'era'>, ctx: Context, logs = false): Data {
  if (era === 'legacy') return params;
  const meta = params._meta as Data | undefined;
  const { logLevel } = ctx.client ?? {};
  return {
    ...params,
    _meta: {
      ...meta,
      [CLIENT_CAPABILITIES_KEY]: capabilitiesOf(ctx),
      ...(logs && logLevel !== undefined && { [LOG_LEVEL_KEY]: logLevel }),
    },
  };
}

/** Removes the server's description of itself from a result, since it is for this gateway and not for the gateway's clients. */
export function withoutServer(result: Data): Data {
  const { _meta } = result;
  if (!isData(_meta) || !Object.hasOwn(_meta, SERVER_INFO_KEY)) return result;
  const { [SERVER_INFO_KEY]: _server, ...meta } = _meta;
  const { _meta: _all, ...others } = result;
  return Object.keys(meta).length === 0 ? others : { ...others, _meta: meta };
}

/** Returns the fields of a result that are passed on as they are. @param handled names of fields that the caller handles */
export function othersOf(result: Data, ...handled: readonly string[]): Data {
  const { ttlMs: _ttl, cacheScope: _scope, resultType: _type, nextCursor: _cursor, _meta, ...others } = result;
  const kept = Object.fromEntries(Object.entries(others).filter(([field]) => !handled.includes(field)));
  if (typeof _meta !== 'object' || _meta === null) return kept;
  const { [SERVER_INFO_KEY]: _server, ...meta } = _meta as Data;
  return Object.keys(meta).length === 0 ? kept : { ...kept, _meta: meta };
}
