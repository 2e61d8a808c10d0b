/**
 * A transport that looks at `subscriptions/listen` on its way to the SDK, which answers it by itself and would not tell
 * us: the watches are made ready first, and taken back when the subscription ends. Requests that the SDK would take, and
 * the protocol does not, are refused on the way.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  PROTOCOL_VERSION_META_KEY,
  type RequestId,
  type Transport,
  type TransportSendOptions,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server';
import type { Context } from '../../core/context.ts';
import { isTooDeep, MAX_DEPTH } from '../depth.ts';
import { answerToUnread } from '../stdio/unread-lines.ts';
import type { Subscriptions } from '../subscriptions.ts';
import { filterOf, type Listening, prepareListening } from './listen.ts';

/** A context for what a client with these capabilities listens to. */
type ContextOf = (declared: ClientCapabilities | undefined) => Context;

/** The capabilities in the envelope of a request. */
export function declaredIn(params: Readonly<Record<string, unknown>> | undefined): ClientCapabilities | undefined {
  const meta = params?._meta as Readonly<Record<string, unknown>> | undefined;
  return meta?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

/** The only revision whose requests name theirs. */
const REVISION = '2026-07-28';

/** The SDK looks at the revision of the first request only. */
function unsupportedIn(message: JSONRPCMessage): UnsupportedProtocolVersionError | undefined {
  if (!isJSONRPCRequest(message) || message.method === 'initialize') return undefined;
  const requested = (message.params?._meta as Readonly<Record<string, unknown>> | undefined)?.[
    PROTOCOL_VERSION_META_KEY
  ];
  if (typeof requested !== 'string' || requested === REVISION) return undefined;
  return new UnsupportedProtocolVersionError({ supported: [REVISION], requested });
}

export class ListenTap implements Transport {
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  onerror?: (error: Error) => void;
  onclose?: () => void;

  readonly #wire: Transport;
  readonly #subscriptions: Subscriptions;
  readonly #context: ContextOf;
  readonly #latest: () => string;
  readonly #listening = new Map<RequestId, Listening>();
  /** Requests that have been handed on and not been answered; a listen is answered at its end only, so it is none. */
  readonly #unanswered = new Set<RequestId>();
  /** Messages that arrive while a listen is being made ready wait for it: the order is kept. */
  #queue: Promise<void> | undefined;

  /** @param latest the line that the wire could not read, where it reads lines */
  constructor(wire: Transport, subscriptions: Subscriptions, context: ContextOf, latest = (): string => '') {
    this.#wire = wire;
    this.#subscriptions = subscriptions;
    this.#context = context;
    this.#latest = latest;
  }

  /** Whether every request that has arrived has been answered. */
  get idle(): boolean {
    return this.#unanswered.size === 0 && this.#queue === undefined;
  }

  async start(): Promise<void> {
    this.#wire.onmessage = (message, extra) => this.#receive(message, extra);
    this.#wire.onerror = (error) => {
      const failed = (reason: unknown): void => this.onerror?.(reason as Error);
      // Whatever else fails is not about what was read.
      const answer = error.name === 'ZodError' ? answerToUnread(this.#latest()) : undefined;
      if (answer !== undefined) this.#wire.send(answer).catch(failed);
      failed(error);
    };
    this.#wire.onclose = () => this.onclose?.();
    await this.#wire.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    // An answer to a listen is its end: refused, or closed by the server.
    if (!('method' in message) && message.id !== undefined) this.#release(message.id);
    await this.#wire.send(message, options);
    if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (isTooDeep(message, MAX_DEPTH)) {
      this.#refuse(message, -32_600, `A message is nested at most ${MAX_DEPTH} levels deep`);
      return;
    }
    const unsupported = unsupportedIn(message);
    if (unsupported !== undefined) {
      this.#refuse(message, unsupported.code, unsupported.message, unsupported.data);
      return;
    }
    const listen = isJSONRPCRequest(message) && message.method === 'subscriptions/listen' ? message : undefined;
    if (this.#queue === undefined && listen === undefined) {
      this.#deliver(message, extra);
      return;
    }
    const turn: Promise<void> = (this.#queue ?? Promise.resolve())
      .then(async () => this.#deliver(listen === undefined ? message : await this.#prepare(listen), extra))
      .catch((error: unknown) => this.onerror?.(error instanceof Error ? error : new Error(String(error))))
      .finally(() => {
        if (this.#queue === turn) this.#queue = undefined;
      });
    this.#queue = turn;
  }

  #deliver(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if ('method' in message && message.method === 'notifications/cancelled') {
      const id = message.params?.requestId;
      if (typeof id === 'string' || typeof id === 'number') {
        this.#release(id);
        this.#unanswered.delete(id);
      }
    }
    if (isJSONRPCRequest(message) && message.method !== 'subscriptions/listen') this.#unanswered.add(message.id);
    this.onmessage?.(message, extra);
  }

  #refuse(message: JSONRPCMessage, code: number, reason: string, data?: unknown): void {
    const failed = (error: unknown): void => this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    if (isJSONRPCRequest(message)) {
      const error = { code, message: reason, ...(data !== undefined && { data }) };
      this.#wire.send({ jsonrpc: '2.0', id: message.id, error }).catch(failed);
    } else {
      failed(new Error(reason));
    }
  }

  async #prepare(message: JSONRPCRequest): Promise<JSONRPCMessage> {
    const filter = filterOf(message.params);
    if (filter === undefined || this.#listening.has(message.id)) return message;
    const listening = await prepareListening(this.#subscriptions, filter, this.#context(declaredIn(message.params)));
    this.#listening.set(message.id, listening);
    return { ...message, params: { ...message.params, notifications: listening.honoured } };
  }

  #release(id: RequestId): void {
    const listening = this.#listening.get(id);
    if (listening === undefined) return;
    this.#listening.delete(id);
    listening
      .release()
      .catch((error: unknown) => this.onerror?.(error instanceof Error ? error : new Error(String(error))));
  }
}
