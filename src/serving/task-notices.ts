/** Tells one connection, or one `subscriptions/listen` stream, of its tasks: each change, as `tasks/get` shows it. */
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { detached } from '../core/invocation.ts';
import type { Engine } from '../engine/index.ts';
import { getTask } from '../frontends/tasks/methods.ts';
import { isOver, type Task } from '../protocol/tasks.ts';

/** The most tasks that one connection or stream is told of at a time. */
export const MAX_TASKS = 100;

/** How long a task is told of at most, in milliseconds: the connection to its server is kept as long. */
const MAX_TOLD_MS = 24 * 60 * 60 * 1000;

interface Told {
  readonly handle: Promise<AsyncDisposable>;
  readonly timer: NodeJS.Timeout;
  /** It is being asked about; `again` where it has changed since. */
  asking: boolean;
  again: boolean;
}

export class TaskNotices {
  readonly #engine: Engine;
  readonly #tell: (task: Task) => void;
  readonly #told = new Map<string, Told>();
  #closed = false;

  constructor(engine: Engine, tell: (task: Task) => void) {
    this.#engine = engine;
    this.#tell = tell;
  }

  /**
   * Tells of the task from now on, until it is over.
   * @param ctx with the client, as it is on a request
   * @throws ResourceError `invalid` for an id that is not one of the caller's, `limited`
   */
  async add(id: string, ctx: Context): Promise<void> {
    const { provider, tasks } = this.#engine;
    const task = tasks.book.open(id, ctx);
    if (this.#closed || this.#told.has(id)) return;
    const [oldest] = this.#told.keys();
    if (this.#told.size >= MAX_TASKS && oldest !== undefined) void this.#end(oldest);
    const handle = provider.subscribe({ task }, () => void this.#changed(id, ctx), ctx);
    const timer = setTimeout(() => void this.#end(id), MAX_TOLD_MS);
    timer.unref();
    this.#told.set(id, { handle, timer, asking: false, again: false });
    try {
      await handle;
    } catch (error) {
      await this.#end(id);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#told.keys()].map((id) => this.#end(id)));
  }

  /** Changes that come while it is asked about become one. */
  async #changed(id: string, ctx: Context): Promise<void> {
    const told = this.#told.get(id);
    if (told === undefined) return;
    told.again = true;
    if (told.asking) return;
    told.asking = true;
    while (told.again && this.#told.get(id) === told) {
      told.again = false;
      await this.#say(id, ctx);
    }
    told.asking = false;
  }

  async #say(id: string, ctx: Context): Promise<void> {
    const { provider, tasks } = this.#engine;
    const invocation = { ...detached(ctx), ...(ctx.client !== undefined && { client: ctx.client }) };
    try {
      const task = await getTask({ provider, book: tasks.book }, id, invocation);
      if (!this.#told.has(id)) return;
      this.#tell(task);
      if (isOver(task)) await this.#end(id);
    } catch (error) {
      ctx.log.debug('a task was not told of', { error });
      if (error instanceof ResourceError && error.code === 'invalid') await this.#end(id);
    }
  }

  async #end(id: string): Promise<void> {
    const told = this.#told.get(id);
    if (told === undefined) return;
    this.#told.delete(id);
    clearTimeout(told.timer);
    const handle = await told.handle.catch(() => undefined);
    await handle?.[Symbol.asyncDispose]();
  }
}
