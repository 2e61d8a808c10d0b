/** The SDK's server for one connection or request, with Vitrine's frontends as its handlers. */

import {
  type ClientCapabilities,
  ProtocolError,
  type Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { FULL_SIGHT } from '../core/access.ts';
import { ANONYMOUS, type Context, createContext, type Principal } from '../core/context.ts';
import { DIRECTORY_EXTENSION, SEP_2093_EXTENSION } from '../protocol/meta.ts';
import { subscribeParams } from '../protocol/methods.ts';
import type { Vitrine } from '../vitrine.ts';
import { principalIn } from './auth/passing.ts';
import type { Connection } from './connection.ts';
import { handedOn, handedOnId } from './direct/handed-on.ts';
import { noteRetry } from './http/retry-after.ts';
import { holdUntilSent } from './http/sending.ts';
import { declaredFeatures, type RunningInvocation, startInvocation } from './invocation.ts';
import { type ClientRoots, createClientRoots } from './legacy/client-roots.ts';
import { admitted, type Method, methodsOf, offersTo, signatureOf, wireErrorOf, withMeta } from './methods.ts';
import { type Message, runObserved } from './observed.ts';
import type { Subscriptions } from './subscriptions.ts';
import { WholeResultServer } from './whole-results.ts';

const anyResult = z.looseObject({});

export function createSdkServer(vitrine: Vitrine, connection: Connection): Server {
  const { instructions: _own, ...implementation } = vitrine.identity;
  const { principal = ANONYMOUS } = connection;
  const instructions = vitrine.instructionsFor(principal);
  const server = new WholeResultServer(mutable(implementation), {
    capabilities: capabilitiesOf(vitrine, principal),
    ...(instructions !== undefined && { instructions }),
  });
  const signature = signatureOf(vitrine);
  const { subscriptions } = connection;
  const legacyMethods = subscriptions === undefined ? undefined : subscriptionMethods(subscriptions);
  const roots = rootsOf(vitrine, server, connection, legacyMethods);

  /** Loose params in, a plain frontend, and errors mapped in one place on the way out. */
  function on(method: Method): void {
    server.setRequestHandler(method.name, { params: method.params, result: anyResult }, async (params, sdk) => {
      const ctx = contextOf(connection, sdk, await roots?.current(sdk.mcpReq.id));
      let running: RunningInvocation | undefined;
      try {
        running = startInvocation(vitrine, server, connection, sdk, method.name, params, ctx);
        const { invocation } = running;
        const result =
          handedOn(sdk.http?.req) ??
          (vitrine.telemetry === undefined
            ? await method.run(params, invocation)
            : await runObserved(vitrine.telemetry, method, params, invocation, messageOf(connection, server, sdk)));
        holdUntilSent(vitrine.admission, sdk.http?.req, result);
        return connection.era === 'legacy' ? { ...result } : withMeta(result, signature);
      } catch (error) {
        noteRetry(sdk.http?.req, error);
        const { code, message, data } = wireErrorOf(vitrine, error, method.name, ctx);
        throw new ProtocolError(code, message, data);
      } finally {
        running?.end();
      }
    });
  }

  const offered = offersTo(vitrine, connection.principal ?? ANONYMOUS);
  // The SDK refuses handlers for what is not declared, and knows by itself what to answer then.
  for (const method of methodsOf(vitrine).values()) if (offered(method.name)) on(method);
  if (vitrine.provider.features.watch) for (const each of legacyMethods?.methods ?? []) on(admitted(vitrine, each));
  if (subscriptions !== undefined) {
    server.oninitialized = () => {
      const ctx = serverContext(connection, server.getClientCapabilities());
      const unnoticed = (what: string) => (error: unknown) =>
        connection.log.warn(`changes of ${what} go unnoticed`, { error });
      if (vitrine.provider.features.watch) subscriptions.addList(ctx).catch(unnoticed('the list'));
      if (vitrine.prompts.watchable) subscriptions.addPrompts(ctx).catch(unnoticed('the prompts'));
      if (vitrine.tools.watchable) subscriptions.addTools(ctx).catch(unnoticed('the tools'));
    };
  }
  return server;
}

/** The client's roots, where they bound something and the connection lasts long enough to keep them. */
function rootsOf(
  vitrine: Vitrine,
  server: Server,
  connection: Connection,
  subscribed: SubscriptionMethods | undefined,
): ClientRoots | undefined {
  if (connection.era !== 'legacy' || vitrine.provider.features.roots !== true) return undefined;
  const recheck = async (): Promise<void> => {
    const ctx = createContext({ ...partsOf(connection), roots: await roots.current() });
    const ended = (await connection.subscriptions?.recheck(ctx)) ?? [];
    subscribed?.forget(ended);
    if (vitrine.provider.features.watch) await server.sendResourceListChanged();
  };
  const roots = createClientRoots(server, connection.log, () => {
    recheck().catch((error: unknown) => connection.log.debug('a change of roots was not told', { error }));
  });
  return roots;
}

interface SubscriptionMethods {
  readonly methods: readonly Method[];
  /** Subscriptions to these have ended by themselves. */
  forget(uris: readonly string[]): void;
}

/** The 2025-era methods for subscriptions; 2026-07-28 has `subscriptions/listen` instead. */
function subscriptionMethods(subscriptions: Subscriptions): SubscriptionMethods {
  const uriOf = (params: unknown): string => (params as z.infer<typeof subscribeParams>).uri;
  // A URI is subscribed to or it is not: asking twice adds nothing, and one unsubscribe ends it.
  const subscribed = new Map<string, Promise<void>>();
  const methods: readonly Method[] = [
    {
      name: 'resources/subscribe',
      params: subscribeParams,
      plain: true,
      run: async (params, ctx) => {
        const uri = uriOf(params);
        const adding = subscribed.get(uri) ?? subscriptions.add(uri, ctx);
        subscribed.set(uri, adding);
        await adding.catch((error: unknown) => {
          if (subscribed.get(uri) === adding) subscribed.delete(uri);
          throw error;
        });
        return {};
      },
    },
    {
      name: 'resources/unsubscribe',
      params: subscribeParams,
      plain: true,
      run: async (params) => {
        const uri = uriOf(params);
        const adding = subscribed.get(uri);
        subscribed.delete(uri);
        await adding?.then(
          () => subscriptions.remove(uri),
          () => {},
        );
        return {};
      },
    },
  ];
  const forget = (uris: readonly string[]): void => {
    for (const uri of uris) subscribed.delete(uri);
  };
  return { methods, forget };
}

/** Only what works is declared, for whoever asks (SEC-CAP-1). */
export function capabilitiesOf(vitrine: Vitrine, principal: Principal): ServerCapabilities {
  const { provider, tools, prompts, sight = FULL_SIGHT } = vitrine;
  const { watch, watchesResources } = provider.features;
  const offered = offersTo(vitrine, principal);
  const subscribe = watchesResources !== false && sight.could(principal, { operation: 'subscribe' });
  return {
    resources: watch ? { ...(subscribe && { subscribe: true }), listChanged: true } : {},
    ...(offered('tools/list') && { tools: tools.watchable ? { listChanged: true } : {}, logging: {} }),
    ...(offered('prompts/list') && { prompts: prompts.watchable ? { listChanged: true } : {} }),
    ...(offered('completion/complete') && { completions: {} }),
    extensions: { [SEP_2093_EXTENSION]: {}, [DIRECTORY_EXTENSION]: {} },
  };
}

function contextOf(connection: Connection, sdk: ServerContext, roots: readonly string[] | undefined): Context {
  // A request of a session may have come with a newer token of the same principal, which allows something else.
  const principal = principalIn(sdk) ?? connection.principal;
  const requestId = handedOnId(sdk.http?.req);
  const parts = { ...partsOf({ ...connection, principal }), ...(requestId !== undefined && { requestId }) };
  return createContext({ ...parts, signal: sdk.mcpReq.signal, roots });
}

/** What telemetry is told of a message. A session has the name of its peer: its id would let others in. */
function messageOf({ era, peer }: Connection, server: Server, { mcpReq, http }: ServerContext): Message {
  return {
    id: mcpReq.id,
    meta: mcpReq._meta,
    headers: http?.req?.headers,
    transport: http === undefined ? 'pipe' : 'tcp',
    revision: server.getNegotiatedProtocolVersion() ?? (era === 'modern' ? '2026-07-28' : undefined),
    session: era === 'legacy' ? peer : undefined,
  };
}

/** For work that no request asked for. */
export function serverContext(connection: Omit<Connection, 'era'>, declared?: ClientCapabilities): Context {
  const client = declared === undefined ? {} : { client: declaredFeatures(declared) };
  return createContext({ ...partsOf(connection), ...client });
}

function partsOf({ principal = ANONYMOUS, peer, log }: Omit<Connection, 'era'>): Partial<Context> {
  return { principal, log, ...(peer !== undefined && { peer }) };
}

/** The SDK's types want mutable arrays where ours are readonly; nothing is changed on either side. */
type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;
const mutable = <T extends object>(value: T): Mutable<T> => value as Mutable<T>;
