/** Reports each change of tasks to one connection, or one `subscriptions/listen` stream, in the form that `tasks/get` gives. */
import type { Context } from '../core/context.ts';
import { ResourceError } from '../core/errors.ts';
import { detached } from '../core/invocation.ts';
import type { Engine } from '../engine/index.ts';
import { getTask } from '../frontends/tasks/methods.ts';
import { isOver, type Task } from '../protocol/tasks.ts';

/** The most tasks of one connection or stream that are followed at a time. A further task ends the oldest one's notices. */
export const MAX_TASKS = 100;

/** The longest time that a task is followed, in milliseconds. The connection to the mounted server is kept for as long. */
const MAX_FOLLOWED_MS = 24 * 60 * 60 * 1000;

interface Followed {
  readonly handle: Promise<AsyncDisposable>;
  readonly timer: NodeJS.Timeout;
  /** Whether the state of the task is being fetched. */
  asking: boolean;
  /** Whether the task has changed since that began. */
  again: boolean;
}

export class TaskNotices {
  readonly #engine: Engine;
  readonly #tell: (task: Task) => void;
  readonly #followed = new Map<string, Followed>();
  #closed = false;

  constructor(engine: Engine, tell: (task: Task) => void) {
    this.#engine = engine;
    this.#tell = tell;
  }

  /**
   * Reports changes of a task from now on, until the task is over.
   * @param ctx the context of the request, with its client
   * @throws ResourceError `invalid` for an id that is no task of the caller, `limited`
   */
  async add(id: string, ctx: Context): Promise<void> {
    const { provider, tasks } = this.#engine;
    const task = tasks.book.open(id, ctx);
    if (this.#closed || this.#followed.has(id)) return;
    const [oldest] = this.#followed.keys();
    if (this.#followed.size >= MAX_TASKS && oldest !== undefined) void this.#end(oldest);
    const handle = provider.subscribe({ task }, () => void this.#changed(id, ctx), ctx);
    const timer = setTimeout(() => void this.#end(id), MAX_FOLLOWED_MS);
    timer.unref();
    this.#followed.set(id, { handle, timer, asking: false, again: false });
    try {
      await handle;
    } catch (error) {
      await this.#end(id);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#followed.keys()].map((id) => this.#end(id)));
  }

  /** Fetches and reports a changed task. Changes that come meanwhile are reported together. */
  async #changed(id: string, ctx: Context): Promise<void> {
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    followed.again = true;
    if (followed.asking) return;
    followed.asking = true;
    while (followed.again && this.#followed.get(id) === followed) {
      followed.again = false;
      await this.#report(id, ctx);
    }
    followed.asking = false;
  }

  async #report(id: string, ctx: Context): Promise<void> {
    const { provider, tasks } = this.#engine;
    const invocation = { ...detached(ctx), ...(ctx.client !== undefined && { client: ctx.client }) };
    try {
      const task = await getTask({ provider, book: tasks.book }, id, invocation);
      if (!this.#followed.has(id)) return;
      this.#tell(task);
      if (isOver(task)) await this.#end(id);
    } catch (error) {
      ctx.log.debug('a change of a task was not reported', { error });
      if (error instanceof ResourceError && error.code === 'invalid') await this.#end(id);
    }
  }

  async #end(id: string): Promise<void> {
    const followed = this.#followed.get(id);
    if (followed === undefined) return;
    this.#followed.delete(id);
    clearTimeout(followed.timer);
    const handle = await followed.handle.catch(() => undefined);
    await handle?.[Symbol.asyncDispose]();
  }
}
