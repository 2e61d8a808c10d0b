/**
 * A client of the 2025 era, on whatever connection: it shakes hands, is asked things, is told of changes, and each of its
 * requests can be cancelled. The wire has its messages; here is what they mean.
 */
import { SUPPORTED_PROTOCOL_VERSIONS, specTypeSchemas } from '@modelcontextprotocol/server';
import { createContext, type Log, type Principal } from '../../core/context.ts';
import type { ClientFeatures, LoggingLevel } from '../../core/invocation.ts';
import type { NetworkTransport } from '../../core/trace.ts';
import type { Engine } from '../../engine/index.ts';
import { canBeAsked, notDeclared } from '../../protocol/askable.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../protocol/error-codes.ts';
import { mendedHandshake } from '../../protocol/implementation.ts';
import type { InputRequest } from '../../protocol/input-required.ts';
import { TASKS_REVISION } from '../../protocol/tasks.ts';
import { type Answer, answerOf, drop } from '../dispatch/answer.ts';
import { introductionOf } from '../dispatch/capabilities.ts';
import { cutShort } from '../dispatch/cut-short.ts';
import { type Dispatcher, NO_SUCH_METHOD } from '../dispatch/dispatcher.ts';
import type { Envelope, Outcome } from '../dispatch/envelope.ts';
import { declaredFeatures, LOGGING_LEVELS } from '../dispatch/invocation.ts';
import { offersTo } from '../dispatch/methods.ts';
import { shownTask, taskIdIn } from '../dispatch/task-methods.ts';
import {
  type Data,
  type MessageId,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  sayProblems,
} from '../messages.ts';
import { ConnectionSubscriptions } from '../subscriptions.ts';
import { TaskNotices } from '../task-notices.ts';
import { createQuestions, Declined, type Question, type Questions } from './questions.ts';
import { type ClientRoots, createClientRoots, ROOTS_TIMEOUT_MS } from './roots.ts';
import { SUBSCRIBING, type SubscriptionMethods, subscriptionMethods } from './subscribing.ts';

/** How long a client may think about one question, in milliseconds: its user may be at lunch. */
const ASK_TIMEOUT_MS = 600_000;

export interface PeerOptions {
  readonly vitrine: Engine;
  readonly dispatcher: Dispatcher;
  readonly log: Log;
  readonly principal: Principal;
  readonly transport: NetworkTransport;
  /** Sends what belongs to no request. */
  readonly tell: (message: object) => void;
  /** Told once who the client is, before its first request is answered; that waits for it. */
  readonly introduced?: ((client: ClientFeatures) => Promise<void>) | undefined;
}

/** How a message came, and what goes back on its way. */
export interface Way {
  readonly principal: Principal;
  readonly headers?: Pick<Headers, 'get'> | undefined;
  readonly send: (message: object) => void;
  /** Ends the connection on which the client waits, where it can come back. */
  readonly hangUp?: (() => void) | undefined;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #id = crypto.randomUUID();
  /** Functions that cancel the requests that are being answered; with `goodbye` they answer that the server ends. */
  #running: Map<MessageId, (reason: unknown, goodbye?: boolean) => void> | undefined;
  readonly #subscriptions: ConnectionSubscriptions;
  /** These are made when there is something to ask, or to subscribe to: most clients only read. */
  #questions: Questions | undefined;
  #roots: ClientRoots | undefined;
  #own: SubscriptionMethods | undefined;
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
    this.#options = options;
    this.#subscriptions = new ConnectionSubscriptions(options.vitrine, this, this.#id);
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
      void this.#outcomeOf(message, way, abort.signal).then((outcome) => {
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

  notification({ method, params }: NotificationMessage): void {
    switch (method) {
      case 'notifications/initialized':
        this.#letAsk();
        this.#watchLists();
        break;
      case 'notifications/cancelled':
        this.#running?.get(params?.requestId as MessageId)?.(params?.reason);
        break;
      case 'notifications/progress':
        this.#questions?.progressed(params);
        break;
      case 'notifications/roots/list_changed':
        this.#roots?.changed();
        if (this.#bounded)
          this.#rootsChanged().catch((error: unknown) =>
            this.#options.log.debug('a change of roots was not told', { error }),
          );
        break;
    }
  }

  response(message: ResponseMessage): void {
    this.#questions?.answered(message);
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
    await this.#tasks?.close();
    await this.#subscriptions.close();
  }

  /** The client's subscriptions call this and the next three methods. */
  updated(uri: string): void {
    this.#notify('notifications/resources/updated', { uri });
  }

  listChanged(): void {
    this.#notify('notifications/resources/list_changed');
  }

  promptsChanged(): void {
    this.#notify('notifications/prompts/list_changed');
  }

  toolsChanged(): void {
    this.#notify('notifications/tools/list_changed');
  }

  #notify(method: string, params?: object): void {
    this.#options.tell({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) });
  }

  /** Whether the client's roots bound what it is shown. */
  get #bounded(): boolean {
    return this.#options.vitrine.provider.features.roots === true;
  }

  /** @throws Declined what the client has not declared, or answers with when it refuses */
  async #ask(question: Question): Promise<unknown> {
    if (!canBeAsked(question, this.#client.declared))
      throw new Declined({ code: METHOD_NOT_FOUND, message: notDeclared(question.method) });
    this.#questions ??= createQuestions();
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
    const { vitrine, principal } = this.#options;
    const { capabilities, protocolVersion } = params as Data;
    this.#client = declaredFeatures(capabilities as Data);
    const [latest = ''] = SUPPORTED_PROTOCOL_VERSIONS;
    const revision = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion as string)
      ? (protocolVersion as string)
      : latest;
    this.#revision = revision;
    await this.#introduce();
    const {
      capabilities: offered,
      serverInfo,
      instructions,
    } = introductionOf(vitrine, principal, revision === TASKS_REVISION ? 'legacy' : undefined);
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

  #setLevel(params: Data | undefined): Outcome {
    const level = params?.level as LoggingLevel;
    if (!LOGGING_LEVELS.includes(level))
      return { error: { code: INVALID_PARAMS, message: `level: one of ${LOGGING_LEVELS.join(', ')} is needed` } };
    this.#logLevel = level;
    return { result: {} };
  }

  /** Watches the lists that the client was promised to be told of. */
  #watchLists(): void {
    const { vitrine, principal, log } = this.#options;
    const subscriptions = this.#subscriptions;
    const ctx = createContext({ principal, peer: this.#id, log, client: this.#client });
    const unnoticed = (what: string) => (error: unknown) => log.warn(`changes of ${what} go unnoticed`, { error });
    const offered = offersTo(vitrine, principal);
    if (vitrine.provider.features.watch) subscriptions.addList(ctx).catch(unnoticed('the list'));
    if (vitrine.prompts.watchable && offered('prompts/list'))
      subscriptions.addPrompts(ctx).catch(unnoticed('the prompts'));
    if (vitrine.tools.watchable && offered('tools/list')) subscriptions.addTools(ctx).catch(unnoticed('the tools'));
  }

  async #rootsChanged(): Promise<void> {
    const { vitrine, principal, log, tell } = this.#options;
    const ctx = createContext({ principal, peer: this.#id, log, roots: await this.#rootsOn(tell, false) });
    const ended = await this.#subscriptions.recheck(ctx);
    this.#own?.forget(ended);
    if (vitrine.provider.features.watch) this.listChanged();
  }

  async #outcomeOf(message: RequestMessage, way: Way, signal: AbortSignal): Promise<Outcome> {
    const { vitrine, principal } = this.#options;
    switch (message.method) {
      case 'initialize':
        return this.#initialize(message);
      case 'ping':
        return { result: {} };
      case 'logging/setLevel':
        return offersTo(vitrine, principal)(message.method) ? this.#setLevel(message.params) : NO_SUCH_METHOD;
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
    const { vitrine } = this.#options;
    this.#tasks ??= new TaskNotices(vitrine, (told) =>
      this.#notify('notifications/tasks/status', shownTask(told, 'legacy', vitrine.hide)),
    );
    if (this.#closed) return;
    const ctx = createContext({ principal, peer: this.#id, log, client });
    this.#tasks.add(task, ctx).catch((error: unknown) => log.debug('a task is not told of', { error }));
  }

  #ownMethods({ method }: RequestMessage): SubscriptionMethods['methods'] | undefined {
    const { vitrine } = this.#options;
    if (!SUBSCRIBING.has(method) || vitrine.provider.features.watchesResources === false) return undefined;
    this.#own ??= subscriptionMethods(vitrine, this.#subscriptions);
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
        logLevel: this.#logLevel,
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
