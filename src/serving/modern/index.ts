/** The 2026-07-28 side of HTTP: a server for each request, and `subscriptions/listen` streams. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMcpHandler, type ServerEvent, type ServerEventBus } from '@modelcontextprotocol/server';
import { ANONYMOUS, createContext, type Log, type Principal } from '../../core/context.ts';
import type { Vitrine } from '../../vitrine.ts';
import { ANSWER_GRACE_MS, createExpiry, endingWith } from '../auth/expiry.ts';
import { authInfoOf, principalOf } from '../auth/passing.ts';
import { isHandedOn } from '../direct/handed-on.ts';
import { idOf, tooMany } from '../http/floods.ts';
import { refuseParamHeaders } from '../http/param-headers.ts';
import { declaredFeatures } from '../invocation.ts';
import { refusal } from '../legacy/sessions.ts';
import { createSdkServer } from '../sdk-server.ts';
import { createSubscriptions } from '../subscriptions.ts';
import { filterOf, type ListenFilter, prepareListening } from './listen.ts';
import { declaredIn } from './listen-tap.ts';

export interface ModernLimits {
  /** Listen streams at the same time. */
  readonly maxStreams: number;
}

export const DEFAULT_MODERN_LIMITS: ModernLimits = { maxStreams: 1_024 };

export interface Modern {
  /**
   * @param principal whose request it is. Default: anonymous
   * @param expiresAt until when that holds, in milliseconds since 1970; an event stream ends then. Default: for ever
   */
  handle(request: Request, parsedBody: unknown, principal?: Principal, expiresAt?: number): Promise<Response>;
  close(): Promise<void>;
}

type Listener = (event: ServerEvent) => void;

/** What the SDK's router and our watches of the same stream meet in. */
interface StreamBus {
  listener: Listener | undefined;
  ended: () => void;
}

/** One for all servers of a process: each promise carries every storage along that was ever used. */
const current = new AsyncLocalStorage<StreamBus>();

export function createModern(vitrine: Vitrine, log: Log, limits: ModernLimits = DEFAULT_MODERN_LIMITS): Modern {
  // The SDK subscribes once for each stream, while it handles that stream's request. Events go to that stream alone, so
  // nothing that was watched for one client can reach another.
  const bus: ServerEventBus = {
    publish: () => {},
    subscribe(listener) {
      const stream = current.getStore();
      if (stream === undefined) return () => {};
      stream.listener = listener;
      return () => stream.ended();
    },
  };
  const handler = createMcpHandler(
    ({ authInfo }) => createSdkServer(vitrine, { era: 'modern', log, principal: principalOf(authInfo) }),
    {
      legacy: 'reject',
      bus,
      maxSubscriptions: limits.maxStreams,
      onerror: (error) => log.debug('http', { error }),
    },
  );
  const ending = new Set<Promise<void>>();
  let closed = false;

  async function listen(request: Request, message: ListenMessage, principal: Principal): Promise<Response> {
    const authInfo = authInfoOf(principal);
    const filter = filterOf(message.params);
    if (filter === undefined) return handler.fetch(request, { parsedBody: message, authInfo });
    const subscriptions = createSubscriptions(vitrine, {
      updated: (uri) => stream.listener?.({ kind: 'resource_updated', uri }),
      listChanged: () => stream.listener?.({ kind: 'resources_list_changed' }),
      promptsChanged: () => stream.listener?.({ kind: 'prompts_list_changed' }),
      toolsChanged: () => stream.listener?.({ kind: 'tools_list_changed' }),
    });
    const streamEnded = vitrine.telemetry?.opened('stream', 'tcp');
    let leave = (): void => {};
    const end = (): void => {
      leave();
      streamEnded?.();
      const closing: Promise<void> = subscriptions
        .close()
        .catch((error: unknown) => log.warn('a watch did not end', { error }))
        .finally(() => ending.delete(closing));
      ending.add(closing);
    };
    const stream: StreamBus = { listener: undefined, ended: end };
    const client = declaredFeatures(declaredIn(message.params));
    const ctx = createContext({ principal, signal: request.signal, log, client });
    let honoured: ListenFilter;
    try {
      leave = vitrine.admission.hold('streams', principal);
      const prepare = () => prepareListening(subscriptions, filter, ctx);
      ({ honoured } = await vitrine.admission.run({ method: message.method }, ctx, prepare));
    } catch (error) {
      end();
      return tooMany(error, idOf(message));
    }
    if (closed || request.signal.aborted) {
      end();
      return refusal(503, -32_000, closed ? 'The server is shutting down' : 'The request was given up');
    }
    const parsedBody = { ...message, params: { ...message.params, notifications: honoured } };
    try {
      return await current.run(stream, () => handler.fetch(request, { parsedBody, authInfo }));
    } finally {
      // Refused before it became a stream.
      if (stream.listener === undefined) end();
    }
  }

  return {
    async handle(request, parsedBody, principal = ANONYMOUS, expiresAt) {
      const inTime = (response: Response, graceMs: number): Response =>
        endingWith(response, createExpiry(expiresAt), { graceMs });
      if (isListen(parsedBody)) return inTime(await listen(request, parsedBody, principal), 0);
      const refused = isHandedOn(request)
        ? undefined
        : await refuseParamHeaders(vitrine, request, parsedBody, principal);
      const authInfo = authInfoOf(principal);
      const sdk = parsedBody === undefined ? { authInfo } : { parsedBody, authInfo };
      return refused ?? inTime(await handler.fetch(request, sdk), ANSWER_GRACE_MS);
    },
    async close() {
      closed = true;
      await handler.close();
      await Promise.allSettled([...ending]);
    },
  };
}

interface ListenMessage {
  readonly method: 'subscriptions/listen';
  readonly params?: Record<string, unknown>;
}

function isListen(body: unknown): body is ListenMessage {
  return typeof body === 'object' && body !== null && 'method' in body && body.method === 'subscriptions/listen';
}
