/**
 * Serves `subscriptions/listen` (2026-07-28): a request that reports changes to the client until it ends. Every watch is placed
 * before the client gets the acknowledgement, and is removed at the end.
 */

import { SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import type { Context } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import type { Data } from '../../protocol/data.ts';
import { INVALID_PARAMS } from '../../protocol/error-codes.ts';
import type { ListName } from '../../protocol/list-name.ts';
import { CLIENT_CAPABILITIES_KEY } from '../../protocol/meta.ts';
import { takesTasks } from '../../protocol/tasks.ts';
import { capabilitiesOf } from '../dispatch/capabilities.ts';
import type { Failure } from '../dispatch/envelope.ts';
import { shownTask, TASKS_NOT_DECLARED } from '../dispatch/task-methods.ts';
import { type MessageId, metaOf, type RequestMessage } from '../messages.ts';
import { Subscriptions } from '../subscriptions.ts';
import { TaskNotices } from '../task-notices.ts';
import { filterOf, type ListenFilter, prepareListening } from './prepare.ts';

const MALFORMED: Failure = {
  error: {
    code: INVALID_PARAMS,
    message: "Invalid params: 'notifications' is required and must be a valid SubscriptionFilter",
  },
};

/** The filter of a request, or the error if it is wrong. */
export function filterIn(message: RequestMessage): { readonly filter: ListenFilter } | Failure {
  const filter = filterOf(message.params);
  if (filter === undefined) return MALFORMED;
  const wantsTasks = filter.taskIds !== undefined && filter.taskIds.length > 0;
  const declared = metaOf(message)[CLIENT_CAPABILITIES_KEY] as Data | undefined;
  return wantsTasks && !takesTasks(declared) ? { error: TASKS_NOT_DECLARED } : { filter };
}

/** Makes a listener and places its watches. @param tell sends a message to the client; called only after `begin` */
export async function listen(
  engine: Engine,
  id: MessageId,
  filter: ListenFilter,
  ctx: Context,
  tell: (message: object) => void,
): Promise<Listener> {
  const listener = new Listener(engine, id, tell);
  await listener.prepare(filter, ctx);
  return listener;
}

/** One listen request. It keeps nothing else of the request in memory, because many of them are open for long and idle. */
export class Listener {
  readonly #engine: Engine;
  readonly #id: MessageId;
  readonly #tell: (message: object) => void;
  readonly #subscriptions: Subscriptions;
  readonly #tasks: TaskNotices;
  /** The messages that came before `begin`, by method and subject. Only the latest message of each is kept. */
  #early: Map<string, object> | undefined = new Map();
  #honoured: ListenFilter | undefined;

  constructor(engine: Engine, id: MessageId, tell: (message: object) => void) {
    this.#engine = engine;
    this.#id = id;
    this.#tell = tell;
    this.#subscriptions = new Subscriptions(engine, this);
    this.#tasks = new TaskNotices(engine, (task) =>
      this.#say('notifications/tasks', shownTask(task, 'modern', engine.hide), task.taskId),
    );
  }

  async prepare(filter: ListenFilter, ctx: Context): Promise<void> {
    const capabilities = capabilitiesOf(this.#engine, ctx.principal, 'modern');
    this.#honoured = await prepareListening(this.#subscriptions, this.#tasks, filter, capabilities, ctx);
  }

  /**
   * Acknowledges the part of the filter that is honoured. Then sends the changes that have happened meanwhile, and later ones as
   * they happen.
   * @returns whether any part of the filter is honoured
   */
  begin(): boolean {
    const honoured = this.#honoured ?? {};
    const missed = this.#early?.values() ?? [];
    this.#early = undefined;
    this.#honoured = undefined;
    this.#tell({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: honoured, _meta: this.#meta },
    });
    for (const message of missed) this.#tell(message);
    return Object.keys(honoured).length > 0;
  }

  /** Tells the client that the request has ended. */
  goodbye(): void {
    const { instructions: _own, ...serverInfo } = this.#engine.identity;
    const _meta = { ...this.#meta, [SERVER_INFO_META_KEY]: serverInfo };
    this.#tell({ jsonrpc: '2.0', id: this.#id, result: { resultType: 'complete', _meta } });
  }

  async close(): Promise<void> {
    await this.#tasks.close();
    await this.#subscriptions.close();
  }

  /** The subscriptions call this and the next method. */
  updated(uri: string): void {
    this.#say('notifications/resources/updated', { uri }, uri);
  }

  listChanged(list: ListName): void {
    this.#say(`notifications/${list}/list_changed`);
  }

  get #meta(): Readonly<Record<string, unknown>> {
    return { [SUBSCRIPTION_ID_META_KEY]: this.#id };
  }

  /** @param about the subject of the message. Before `begin`, a message replaces the one before with the same method and subject */
  #say(method: string, params?: object, about?: string): void {
    const meta = { ...(params as { readonly _meta?: object } | undefined)?._meta, ...this.#meta };
    const message = { jsonrpc: '2.0', method, params: { ...params, _meta: meta } };
    if (this.#early === undefined) this.#tell(message);
    else this.#early.set(`${method} ${about}`, message);
  }
}
