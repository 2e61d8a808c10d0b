/**
 * A client of the 2025 era, on whatever connection: it shakes hands, is asked things, is told of changes, and each of its
 * requests can be cancelled. The wire has its messages; here is what they mean.
 */

import { randomInt } from 'node:crypto';
import { specTypeSchemas } from '@modelcontextprotocol/server';
import { type Context, createContext, type Principal } from '../../core/context.ts';
import { toWireError } from '../../core/errors.ts';
import type { ClientFeatures, LoggingLevel } from '../../core/invocation.ts';
import { canBeAsked, notDeclared } from '../../protocol/askable.ts';
import type { Data } from '../../protocol/data.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import { mendedHandshake } from '../../protocol/implementation.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import type { ListName } from '../../protocol/list-name.ts';
import { TASKS_REVISION } from '../../protocol/tasks.ts';
import { type Answer, answerOf, drop } from '../dispatch/answer.ts';
import { introductionOf } from '../dispatch/capabilities.ts';
import { cutShort } from '../dispatch/cut-short.ts';
import { NO_SUCH_METHOD } from '../dispatch/dispatcher.ts';
import type { Envelope, Outcome } from '../dispatch/envelope.ts';
import { declaredFeatures, LOGGING_LEVELS } from '../dispatch/invocation.ts';
import { offersTo } from '../dispatch/methods.ts';
import { shownTask, taskIdIn } from '../dispatch/task-methods.ts';
import {
  type MessageId,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  sayProblems,
} from '../messages.ts';
import { ConnectionSubscriptions } from '../subscriptions.ts';
import { TaskNotices } from '../task-notices.ts';
import { HeldSubscriptions } from './held.ts';
import { changingLists, watchLists } from './lists.ts';
import type { PeerOptions, Way } from './options.ts';
import { createQuestions, Declined, type Question, type Questions } from './questions.ts';
import { revisionFor } from './revision.ts';
import { type ClientRoots, createClientRoots, ROOTS_TIMEOUT_MS } from './roots.ts';
import type { SharedPartEvents } from './shared-part.ts';
import { SUBSCRIBING, type SubscriptionMethods, subscriptionMethods } from './subscribing.ts';

/** How long a client may think about one question, in milliseconds: its user may be at lunch. */
const ASK_TIMEOUT_MS = 600_000;

export class Peer {
  readonly #options: PeerOptions;
  readonly #id: string;
  /** Functions that cancel the requests that are being answered; with `goodbye` they answer that the server ends. */
  #running: Map<MessageId, (reason: unknown, goodbye?: boolean) => void> | undefined;
  readonly #subscriptions: ConnectionSubscriptions;
  /** These are made when there is something to ask, or to subscribe to: most clients only read. */
  #questions: Questions | undefined;
  #roots: ClientRoots | undefined;
  #own: SubscriptionMethods | undefined;
  readonly #held: HeldSubscriptions | undefined;
  #tasks: TaskNotices | undefined;
  #client: ClientFeatures = declaredFeatures(undefined);
  #revision: string | undefined;
  #logLevel: LoggingLevel | undefined;
  #closed = false;
  #introduced: Promise<void> | undefined;
  /** The client has said that it may be asked. */
  #initialized = false;
  /** Questions that wait until the client has said so. */
  #forInitialized: (() => void)[] | undefined;

  constructor(options: PeerOptions) {
    const { engine, shared, log } = options;
    this.#options = options;
    this.#id = shared?.id ?? crypto.randomUUID();
    this.#subscriptions = new ConnectionSubscriptions(engine, this, this.#id);
    if (shared === undefined) return;
    this.#held = new HeldSubscriptions({
      engine,
      part: shared,
      subscriptions: this.#subscriptions,
      log,
      context: () => this.#watching(),
      updated: (uri) => this.updated(uri),
    });
    this.#own = this.#held;
    if (options.resumed !== true) return;
    this.#client = declaredFeatures(shared.claims.capabilities);
    this.#revision = shared.claims.revision;
    this.#initialized = true;
  }

  /** The message that answers, in JSON; undefined for a request that was cancelled. Never rejects. */
  request(message: RequestMessage, way: Way): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const { id } = message;
      const abort = new AbortController();
      const settle = (answer: Answer | undefined): void => {
        if (this.#running?.get(id) === cancel) this.#running.delete(id);
        resolve(answer);
      };
      // A cancelled request has no answer, whether or not its work ends.
      const cancel = (reason: unknown, goodbye = false): void => {
        abort.abort(reason);
        settle(goodbye ? answerOf(id, cutShort(message.method)) : undefined);
      };
      this.#running ??= new Map();
      this.#running.set(id, cancel);
      void this.#outcomeOf(message, way, abort.signal)
        .catch((error: unknown): Outcome => ({ error: toWireError(error) }))
        .then((outcome) => {
          if (abort.signal.aborted) drop(id, outcome);
          else settle(answerOf(id, outcome));
        });
    });
  }

  /** As `request`, where the answer is known at once; else undefined. */
  again(message: RequestMessage, principal: Principal): Answer | undefined {
    const { dispatcher, log } = this.#options;
    const outcome = this.#bounded
      ? undefined
      : dispatcher.again(message, { era: 'legacy', principal, peer: this.#id, log });
    return outcome && answerOf(message.id, outcome);
  }

  /** @returns whether that was all: of a session that replicas share, another one may wait for it */
  notification({ method, params }: NotificationMessage): boolean {
    switch (method) {
      case 'notifications/initialized':
        this.#letAsk();
        if (this.#held === undefined) this.#watchLists();
        return true;
      case 'notifications/cancelled': {
        const cancel = this.#running?.get(params?.requestId as MessageId);
        cancel?.(params?.reason);
        return cancel !== undefined;
      }
      case 'notifications/progress':
        return this.#questions?.progressed(params) === true;
      case 'notifications/roots/list_changed':
        this.#roots?.changed();
        if (this.#bounded)
          this.#rootsChanged().catch((error: unknown) =>
            this.#options.log.debug('a change of roots was not told', { error }),
          );
        return false;
      default:
        return true;
    }
  }

  /** @returns whether it was asked here */
  response(message: ResponseMessage): boolean {
    return this.#questions?.answered(message) === true;
  }

  /**
   * The client listens here from now on, to what of its session the replicas share.
   * @param missed whether something may have changed since it listened before
   */
  listens(missed: boolean): void {
    if (this.#held === undefined) return;
    this.#watchLists();
    this.#held.begin();
    if (missed) this.#listsChanged();
  }

  /** The client does not listen here any more. */
  rests(): void {
    this.#held?.rest().catch((error: unknown) => this.#options.log.warn('a watch did not end', { error }));
  }

  /** Takes what other replicas do with the session. */
  get heard(): SharedPartEvents {
    const held = this.#held;
    return {
      subscribed: (uri) => held?.subscribed(uri),
      unsubscribed: (uri) => held?.unsubscribed(uri),
      levelSet: () => {},
      mended: () => {
        held?.mended();
        if (held?.open === true) this.#listsChanged();
      },
    };
  }

  /** Whether a request with that id is being answered. */
  answers(id: MessageId): boolean {
    return this.#running?.has(id) === true;
  }

  /** Cancels what is running, and ends what the client was told of. @param goodbye whether its requests are answered that the server ends */
  async close(goodbye = false): Promise<void> {
    this.#closed = true;
    this.#letAsk();
    this.#questions?.close();
    for (const cancel of [...(this.#running?.values() ?? [])]) cancel(new Error('Connection closed'), goodbye);
    await this.#held?.rest();
    await this.#tasks?.close();
    await this.#subscriptions.close();
  }

  /** The client's subscriptions call this and the next method. */
  updated(uri: string): void {
    this.#notify('notifications/resources/updated', { uri });
  }

  listChanged(list: ListName): void {
    this.#notify(`notifications/${list}/list_changed`);
  }

  #notify(method: string, params?: object): void {
    this.#options.tell({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) });
  }

  /** Whether the client's roots bound what it is shown. */
  get #bounded(): boolean {
    return this.#options.engine.provider.features.roots === true;
  }

  /** @throws Declined what the client has not declared, or answers with when it refuses */
  async #ask(question: Question): Promise<unknown> {
    if (!canBeAsked(question, this.#client.declared))
      throw new Declined({ code: METHOD_NOT_FOUND, message: notDeclared(question.method) });
    // Far enough apart, whatever the client takes for a number.
    this.#questions ??= createQuestions(this.#held === undefined ? 0 : randomInt(2 ** 30) * 2 ** 20);
    if (this.#closed) this.#questions.close();
    return this.#questions.ask(question);
  }

  async #rootsOn(send: Way['send'], request: boolean): Promise<readonly string[] | undefined> {
    if (!this.#client.roots) return undefined;
    this.#roots ??= createClientRoots(this.#options.log);
    return this.#roots.current(() => this.#ask({ method: 'roots/list', send, timeoutMs: ROOTS_TIMEOUT_MS }), request);
  }

  async #initialize(message: RequestMessage): Promise<Outcome> {
    const params = mendedHandshake(message.params);
    const outcome = specTypeSchemas.InitializeRequest['~standard'].validate({ method: 'initialize', params });
    if (!(outcome instanceof Promise) && outcome.issues !== undefined) {
      const said = sayProblems(
        outcome.issues.slice(0, 5).map(({ message, path = [] }) => ({ message, path: path.slice(1) })),
        '; ',
      );
      return { error: { code: INVALID_PARAMS, message: `Invalid params for initialize: ${said}` } };
    }
    const { engine, principal } = this.#options;
    const { capabilities, protocolVersion } = params as Data;
    this.#client = declaredFeatures(capabilities as Data);
    const revision = revisionFor(protocolVersion);
    this.#revision = revision;
    await this.#introduce();
    const {
      capabilities: offered,
      serverInfo,
      instructions,
    } = introductionOf(engine, principal, revision === TASKS_REVISION ? 'legacy' : undefined);
    return {
      result: { protocolVersion: revision, capabilities: offered, serverInfo, ...(instructions && { instructions }) },
    };
  }

  /** Says who the client is; one that has not shaken hands is nobody who could be asked. */
  #introduce(): Promise<void> | undefined {
    this.#introduced ??= this.#options.introduced?.({ ...this.#client, ask: (...asked) => this.#askLater(...asked) });
    return this.#introduced;
  }

  /** Asks the client on no request of its own. */
  async #askLater(request: InputRequest, signal: AbortSignal, reports?: boolean): Promise<unknown> {
    if (!this.#initialized) {
      await new Promise<void>((initialized) => {
        this.#forInitialized ??= [];
        this.#forInitialized.push(initialized);
      });
    }
    return this.#ask({ ...request, reports, send: this.#options.tell, signal, timeoutMs: ASK_TIMEOUT_MS });
  }

  #letAsk(): void {
    this.#initialized = true;
    for (const initialized of this.#forInitialized?.splice(0) ?? []) initialized();
  }

  async #setLevel(params: Data | undefined): Promise<Outcome> {
    const level = params?.level as LoggingLevel;
    if (!LOGGING_LEVELS.includes(level))
      return { error: { code: INVALID_PARAMS, message: `level: one of ${LOGGING_LEVELS.join(', ')} is needed` } };
    this.#logLevel = level;
    await this.#options.shared?.setLevel(level);
    return { result: {} };
  }

  #watchLists(): void {
    watchLists(changingLists(this.#options), this.#subscriptions, this.#contextOf(undefined));
  }

  #listsChanged(): void {
    for (const list of changingLists(this.#options)) this.listChanged(list);
  }

  #contextOf(roots: Context['roots']): Context {
    const { principal, log } = this.#options;
    return createContext({ principal, peer: this.#id, log, client: this.#client, roots });
  }

  /** The context of watches that are placed outside of any request. */
  async #watching(): Promise<Context> {
    return this.#contextOf(this.#bounded ? await this.#rootsOn(this.#options.tell, false) : undefined);
  }

  async #rootsChanged(): Promise<void> {
    const { engine } = this.#options;
    const ctx = await this.#watching();
    const ended = await this.#subscriptions.recheck(ctx);
    this.#own?.forget(ended);
    if (engine.provider.features.watch) this.listChanged('resources');
  }

  async #outcomeOf(message: RequestMessage, way: Way, signal: AbortSignal): Promise<Outcome> {
    const { engine, principal } = this.#options;
    switch (message.method) {
      case 'initialize':
        return this.#initialize(message);
      case 'ping':
        return { result: {} };
      case 'logging/setLevel':
        return offersTo(engine, principal)(message.method) ? this.#setLevel(message.params) : NO_SUCH_METHOD;
      default:
        if (this.#options.introduced !== undefined) await this.#introduce();
        return this.#dispatch(this.#envelopeOf(message, way, signal));
    }
  }

  async #dispatch(envelope: Envelope): Promise<Outcome> {
    const outcome = await this.#options.dispatcher.dispatch(envelope);
    const task = envelope.message.method === 'tools/call' && 'result' in outcome ? taskIdIn(outcome.result) : undefined;
    if (task !== undefined) this.#tellOf(task, envelope);
    return outcome;
  }

  /** Tells the client of a task that it has begun. */
  #tellOf(task: string, { principal, client, log }: Envelope): void {
    const { engine } = this.#options;
    this.#tasks ??= new TaskNotices(engine, (told) =>
      this.#notify('notifications/tasks/status', shownTask(told, 'legacy', engine.hide)),
    );
    if (this.#closed) return;
    const ctx = createContext({ principal, peer: this.#id, log, client });
    this.#tasks.add(task, ctx).catch((error: unknown) => log.debug('a task is not told of', { error }));
  }

  #ownMethods({ method }: RequestMessage): SubscriptionMethods['methods'] | undefined {
    const { engine } = this.#options;
    if (!SUBSCRIBING.has(method) || engine.provider.features.watchesResources === false) return undefined;
    this.#own ??= subscriptionMethods(engine, this.#subscriptions);
    return this.#own.methods;
  }

  #envelopeOf(message: RequestMessage, way: Way, signal: AbortSignal): Envelope {
    const { log, transport } = this.#options;
    return {
      message,
      era: 'legacy',
      principal: way.principal,
      peer: this.#id,
      log,
      signal,
      client: {
        ...this.#client,
        logLevel: this.#options.shared?.level ?? this.#logLevel,
        ask: (request, until, reports) =>
          this.#ask({
            ...request,
            reports,
            send: way.send,
            signal: until === signal ? signal : AbortSignal.any([until, signal]),
            timeoutMs: ASK_TIMEOUT_MS,
          }),
      },
      own: this.#ownMethods(message),
      roots: this.#bounded ? () => this.#rootsOn(way.send, true) : undefined,
      tell: (notification) => way.send({ jsonrpc: '2.0', ...notification }),
      hangUp: () => way.hangUp?.(),
      headers: way.headers,
      transport,
      revision: this.#revision,
      session: this.#id,
    };
  }
}
