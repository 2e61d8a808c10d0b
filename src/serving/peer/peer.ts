/**
 * Serves one client of the 2025 era, over any wire: answers its handshake and requests, cancels requests, asks it questions, and
 * reports changes to it. The wire carries the messages, and this file handles them.
 */

import { randomInt } from 'node:crypto';
import { specTypeSchemas } from '@modelcontextprotocol/server';
import { type Context, createContext, type Principal } from '../../core/context.ts';
import { toWireError } from '../../core/errors.ts';
import type { ClientFeatures, LoggingLevel } from '../../core/invocation.ts';
import { sayProblems } from '../../core/text/problems.ts';
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
import type { MessageId, NotificationMessage, RequestMessage, ResponseMessage } from '../messages.ts';
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

/** How long a client may take to answer one question, in milliseconds. It is long, because a user may have to answer. */
const ASK_TIMEOUT_MS = 600_000;

export class Peer {
  readonly #options: PeerOptions;
  readonly #id: string;
  /** The functions that cancel the running requests; with `goodbye`, the request gets an answer that says that the server ends. */
  #running: Map<MessageId, (reason: unknown, goodbye?: boolean) => void> | undefined;
  readonly #subscriptions: ConnectionSubscriptions;
  /** This and the next two fields are made when they are needed, because most clients only read. */
  #questions: Questions | undefined;
  #roots: ClientRoots | undefined;
  #subscribing: SubscriptionMethods | undefined;
  readonly #held: HeldSubscriptions | undefined;
  #tasks: TaskNotices | undefined;
  #client: ClientFeatures = declaredFeatures(undefined);
  #revision: string | undefined;
  #logLevel: LoggingLevel | undefined;
  #closed = false;
  #introduced: Promise<void> | undefined;
  /** Whether the client has sent `notifications/initialized`, after which it may be asked. */
  #initialized = false;
  /** Callbacks that let the waiting questions go on once `#initialized` is true. */
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
      context: () => this.#watchContext(),
      updated: (uri) => this.updated(uri),
    });
    this.#subscribing = this.#held;
    if (options.resumed !== true) return;
    this.#client = declaredFeatures(shared.claims.capabilities);
    this.#revision = shared.claims.revision;
    this.#initialized = true;
  }

  /** Answers a request; resolves to undefined if it was cancelled. Never rejects. */
  request(message: RequestMessage, way: Way): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const { id } = message;
      const abort = new AbortController();
      const settle = (answer: Answer | undefined): void => {
        if (this.#running?.get(id) === cancel) this.#running.delete(id);
        resolve(answer);
      };
      // A cancelled request gets no answer, even if its work goes on.
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

  /** Answers a request at once from a kept answer that is still valid; returns undefined if there is none. */
  again(message: RequestMessage, principal: Principal): Answer | undefined {
    const { dispatcher, log } = this.#options;
    const outcome = this.#bounded
      ? undefined
      : dispatcher.again(message, { era: 'legacy', principal, peer: this.#id, log });
    return outcome && answerOf(message.id, outcome);
  }

  /** Handles a notification. @returns whether it is done. If not, another replica that shares the session may need it */
  notification({ method, params }: NotificationMessage): boolean {
    switch (method) {
      case 'notifications/initialized':
        this.#allowQuestions();
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
            this.#options.log.debug('a change of roots was not handled', { error }),
          );
        return false;
      default:
        return true;
    }
  }

  /** Handles the client's answer to a question. @returns whether this replica has asked the question */
  response(message: ResponseMessage): boolean {
    return this.#questions?.answered(message) === true;
  }

  /**
   * Called when the client has opened its stream at this replica; does nothing for a session that is not shared.
   * @param missed whether changes may have been missed since the client's last stream
   */
  listens(missed: boolean): void {
    if (this.#held === undefined) return;
    this.#watchLists();
    this.#held.begin();
    if (missed) this.#listsChanged();
  }

  /** Called when the client's stream at this replica has ended. */
  rests(): void {
    this.#held?.rest().catch((error: unknown) => this.#options.log.warn('a watch did not end', { error }));
  }

  /** Callbacks for what other replicas do with the session. */
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

  /** Whether a request with this id is being answered. */
  answers(id: MessageId): boolean {
    return this.#running?.has(id) === true;
  }

  /**
   * Cancels all running requests and ends all subscriptions.
   * @param goodbye whether the requests get an answer that says that the server ends
   */
  async close(goodbye = false): Promise<void> {
    this.#closed = true;
    this.#allowQuestions();
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

  /** Whether the client's roots restrict the resources that it gets. */
  get #bounded(): boolean {
    return this.#options.engine.provider.features.roots === true;
  }

  /** @throws Declined if the client has not declared that it can be asked this, or refuses */
  async #ask(question: Question): Promise<unknown> {
    if (!canBeAsked(question, this.#client.declared))
      throw new Declined({ code: METHOD_NOT_FOUND, message: notDeclared(question.method) });
    // Replicas that ask the same client begin at distant ids. These stay below 2 ** 53, so that every client can read them.
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
      const problems = sayProblems(
        outcome.issues.slice(0, 5).map(({ message, path = [] }) => ({ message, path: path.slice(1) })),
        '; ',
      );
      return { error: { code: INVALID_PARAMS, message: `Invalid params for initialize: ${problems}` } };
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

  /** Calls `introduced` once. A client that has not sent `initialize` is introduced without features. */
  #introduce(): Promise<void> | undefined {
    this.#introduced ??= this.#options.introduced?.({ ...this.#client, ask: (...args) => this.#askLater(...args) });
    return this.#introduced;
  }

  /** Asks the client outside of any request, as soon as it may be asked. */
  async #askLater(request: InputRequest, signal: AbortSignal, reports?: boolean): Promise<unknown> {
    if (!this.#initialized) {
      await new Promise<void>((initialized) => {
        this.#forInitialized ??= [];
        this.#forInitialized.push(initialized);
      });
    }
    return this.#ask({ ...request, reports, send: this.#options.tell, signal, timeoutMs: ASK_TIMEOUT_MS });
  }

  #allowQuestions(): void {
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

  /** The context for watches, which are placed outside of any request. */
  async #watchContext(): Promise<Context> {
    return this.#contextOf(this.#bounded ? await this.#rootsOn(this.#options.tell, false) : undefined);
  }

  async #rootsChanged(): Promise<void> {
    const { engine } = this.#options;
    const ctx = await this.#watchContext();
    const ended = await this.#subscriptions.recheck(ctx);
    this.#subscribing?.forget(ended);
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
    if (task !== undefined) this.#reportTask(task, envelope);
    return outcome;
  }

  /** Reports each change of a task to the client that has begun it. */
  #reportTask(task: string, { principal, client, log }: Envelope): void {
    const { engine } = this.#options;
    this.#tasks ??= new TaskNotices(engine, (changed) =>
      this.#notify('notifications/tasks/status', shownTask(changed, 'legacy', engine.hide)),
    );
    if (this.#closed) return;
    const ctx = createContext({ principal, peer: this.#id, log, client });
    this.#tasks.add(task, ctx).catch((error: unknown) => log.debug('changes of a task are not reported', { error }));
  }

  #ownMethods({ method }: RequestMessage): SubscriptionMethods['methods'] | undefined {
    const { engine } = this.#options;
    if (!SUBSCRIBING.has(method) || engine.provider.features.watchesResources === false) return undefined;
    this.#subscribing ??= subscriptionMethods(engine, this.#subscriptions);
    return this.#subscribing.methods;
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
