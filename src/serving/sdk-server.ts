/** The SDK's server for one connection or request, with Vitrine's frontends as its handlers. */
import {
  ProtocolError,
  SERVER_INFO_META_KEY,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ANONYMOUS, type Context, createContext, type Log, type Principal } from '../core/context.ts';
import { ResourceError, toWireError } from '../core/errors.ts';
import { complete } from '../frontends/completion/complete.ts';
import { listResources, readDirectory } from '../frontends/resources/list.ts';
import { readMetadata } from '../frontends/resources/metadata.ts';
import { readResource } from '../frontends/resources/read.ts';
import { listTemplates } from '../frontends/resources/templates.ts';
import { DIRECTORY_EXTENSION, SEP_2093_EXTENSION } from '../protocol/meta.ts';
import {
  completeParams,
  DIRECTORY_READ_METHOD,
  directoryReadParams,
  listParams,
  METADATA_METHOD,
  metadataParams,
  readParams,
  subscribeParams,
  templatesParams,
} from '../protocol/methods.ts';
import type { Vitrine } from '../vitrine.ts';
import type { Subscriptions } from './subscriptions.ts';

/** What a server needs to know of whom it serves. */
export interface Connection {
  readonly era: 'legacy' | 'modern';
  readonly log: Log;
  readonly principal?: Principal | undefined;
  /** Of a 2025-era connection, whose methods are `resources/subscribe` and `unsubscribe`. */
  readonly subscriptions?: Subscriptions | undefined;
}

const anyResult = z.looseObject({});

export function createSdkServer(vitrine: Vitrine, connection: Connection): Server {
  const { identity, resources } = vitrine;
  const { instructions, ...implementation } = identity;
  const server = new Server(mutable(implementation), {
    capabilities: capabilitiesOf(vitrine),
    ...(instructions !== undefined && { instructions }),
  });

  /** One handler: loose params in, a plain frontend, and errors mapped in one place on the way out. */
  function on<S extends z.ZodType>(
    method: string,
    params: S,
    run: (params: z.infer<S>, ctx: Context) => Promise<object>,
  ): void {
    server.setRequestHandler(method, { params, result: anyResult }, async (parsed, sdk) => {
      const ctx = contextOf(connection, sdk);
      try {
        return signed(await run(parsed as z.infer<S>, ctx));
      } catch (error) {
        throw protocolError(error, method, ctx);
      }
    });
  }

  // A modern result says who made it. The SDK would put the whole identity into each, icons included; name and version
  // are what the specification asks for, and the rest is in `server/discover`.
  const signature = { [SERVER_INFO_META_KEY]: { name: identity.name, version: identity.version } };
  function signed(result: object): Record<string, unknown> {
    if (connection.era === 'legacy') return { ...result };
    const { _meta } = result as { _meta?: object };
    return { ...result, _meta: { ..._meta, ...signature } };
  }

  on('resources/list', listParams, (params, ctx) => listResources(resources, params, ctx));
  on('resources/read', readParams, (params, ctx) => readResource(resources, params, ctx));
  on(METADATA_METHOD, metadataParams, (params, ctx) => readMetadata(resources, params, ctx));
  on(DIRECTORY_READ_METHOD, directoryReadParams, (params, ctx) => readDirectory(resources, params, ctx));
  on('resources/templates/list', templatesParams, (params, ctx) => listTemplates(resources, params, ctx));
  if (vitrine.provider.features.completion)
    on('completion/complete', completeParams, (params, ctx) => complete(resources, params, ctx));

  const { subscriptions } = connection;
  if (subscriptions !== undefined && vitrine.provider.features.watch) {
    on('resources/subscribe', subscribeParams, async ({ uri }, ctx) => {
      await subscriptions.add(uri, ctx);
      return {};
    });
    on('resources/unsubscribe', subscribeParams, async ({ uri }) => {
      await subscriptions.remove(uri);
      return {};
    });
    server.oninitialized = () => {
      subscriptions.addList(serverContext(connection)).catch((error: unknown) => {
        connection.log.warn('changes of the list go unnoticed', { error });
      });
    };
  }
  return server;
}

/** Only what works is declared (SEC-CAP-1). */
export function capabilitiesOf(vitrine: Vitrine): ServerCapabilities {
  const { features } = vitrine.provider;
  return {
    resources: features.watch ? { subscribe: true, listChanged: true } : {},
    ...(features.completion && { completions: {} }),
    extensions: { [SEP_2093_EXTENSION]: {}, [DIRECTORY_EXTENSION]: {} },
  };
}

function contextOf(connection: Connection, sdk: ServerContext): Context {
  return createContext({
    principal: connection.principal ?? ANONYMOUS,
    signal: sdk.mcpReq.signal,
    log: connection.log,
  });
}

/** For work that no request asked for. */
export function serverContext(connection: Pick<Connection, 'principal' | 'log'>): Context {
  return createContext({ principal: connection.principal ?? ANONYMOUS, log: connection.log });
}

function protocolError(error: unknown, method: string, ctx: Context): ProtocolError {
  const wire = toWireError(error, ctx.requestId);
  const expected = error instanceof ResourceError && error.code !== 'internal';
  if (!ctx.signal.aborted) {
    ctx.log[expected ? 'debug' : 'error']('request failed', { method, requestId: ctx.requestId, error });
  }
  return new ProtocolError(wire.code, wire.message, wire.data);
}

/** The SDK's types want mutable arrays where ours are readonly; nothing is changed on either side. */
type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;
const mutable = <T extends object>(value: T): Mutable<T> => value as Mutable<T>;
