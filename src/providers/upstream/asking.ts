/** Requests to an upstream that change nothing: over the connection that is right for the client, again where that broke. */

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
   * The answer, from the cache where it may be; what it says of itself goes to the context's notes.
   * @param versions whether the server answers reads under a condition: then it does not send again what is kept too long
   */
  ask(method: string, key: string, params: Data, ctx: Context, versions?: boolean): Promise<Data>;
  /** A connection to look over. */
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
        // It broke while it was used: whatever it was, nothing was changed by it, and the next connection may be good.
        const broke = link.ended && error instanceof ResourceError && error.code === 'unavailable';
        if (!broke || attempt > 1 || ctx.signal.aborted) throw error;
        log.debug('asked again over another connection', { mount: name, method });
      }
    }
  }

  /** A read at a 2025-era server on behalf of a client that is asked by an answer: it waits here until that comes back. */
  async function readInRounds({ inputResponses, requestState, ...params }: Data, ctx: Context): Promise<Data> {
    const invocation: Invocation = {
      ...detached(ctx),
      ...(ctx.client !== undefined && { client: ctx.client }),
      answers: keyed(inputResponses as Data | undefined),
      state: requestState,
      // Whoever asks the client seals it.
      seal: (state) => state as string,
    };
    const waitMs = options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS;
    const outcome = await calls.run(invocation, {
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
      const known = cache.get(method, key, audience);
      const asked = cache.forgotten;
      const old = known === undefined && versions ? cache.old(method, key, audience) : undefined;
      const result = known ?? renewed(old, await send(method, old === undefined ? params : ifOther(params, old), ctx));
      if (known === undefined && result.resultType !== 'input_required')
        cache.put(method, key, audience, result, asked);
      const hint = freshnessIn(result);
      if (hint === undefined) ctx.notes?.plain();
      else ctx.notes?.fresh(hint);
      return result;
    },
  };
}

/** A read that wants contents only where they are not those of an answer that is kept. */
const ifOther = (params: Data, old: Data): Data => ({
  ...params,
  _meta: { ...(params._meta as Data | undefined), [IF_VERSION_META_KEY]: versionsIn(old) },
});

/** The kept answer, as fresh as the new one says, where that says that the contents are the same. */
function renewed(old: Data | undefined, result: Data): Data {
  if (old === undefined || !isNotModified(result)) return result;
  const { ttlMs: _ttl, cacheScope: _scope, ...lasting } = old;
  return { ...lasting, ...freshnessIn(result) };
}

/** Whether the client can be asked, though not while a request is running. */
const comesBack = (ctx: Context): boolean => askable(ctx) && ctx.client?.ask === undefined;

const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';

/** In 2026-07-28 every request says what its client can do: the client's own capabilities, not those of the gateway. */
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

/** A result without who made it, which is between its server and this one. */
export function withoutServer(result: Data): Data {
  const { _meta } = result;
  if (!isData(_meta) || !Object.hasOwn(_meta, SERVER_INFO_KEY)) return result;
  const { [SERVER_INFO_KEY]: _server, ...meta } = _meta;
  const { _meta: _all, ...others } = result;
  return Object.keys(meta).length === 0 ? others : { ...others, _meta: meta };
}

/** A result's own fields beside its entries, as they are passed on. */
export function othersOf(result: Data, ...known: readonly string[]): Data {
  const { ttlMs: _ttl, cacheScope: _scope, resultType: _type, nextCursor: _cursor, _meta, ...others } = result;
  const kept = Object.fromEntries(Object.entries(others).filter(([field]) => !known.includes(field)));
  if (typeof _meta !== 'object' || _meta === null) return kept;
  const { [SERVER_INFO_KEY]: _server, ...meta } = _meta as Data;
  return Object.keys(meta).length === 0 ? kept : { ...kept, _meta: meta };
}
