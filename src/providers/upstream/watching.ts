/** Changes at an upstream, told to all who watch them. What is watched is reported as changed, too, where it may have been. */
import type { Data } from '../../connection/data.ts';
import { createListening } from '../../connection/listening.ts';
import type { Context, Log } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ListName } from '../../protocol/list-name.ts';
import type { Facts } from './facts.ts';
import type { Supervisor } from './supervisor.ts';
import type { Link } from './wire/link.ts';

export interface Watching {
  /** @throws ResourceError `unavailable`, `invalid` for what the upstream does not let be watched */
  resource(uri: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** If the upstream does not tell of changes, nothing is ever called. */
  list(list: ListName, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Calls `onChange` when the upstream tells of a task, where it does so. */
  task(taskId: string, onChange: () => void): Promise<AsyncDisposable>;
  /** A notification of the upstream. */
  notified(method: string, params: Data): void;
  /** The shared connection is up: what is watched is watched over it. */
  restore(link: Link): void;
  /** Something may have been missed: everybody is told. */
  missed(): void;
  /** Resources that are watched. */
  readonly size: number;
  /** Whether anything is watched. */
  readonly busy: boolean;
  close(): Promise<void>;
}

export interface WatchingSetup {
  readonly name: string;
  readonly log: Log;
  /** Of the connection that changes are told over. */
  readonly supervisor: Supervisor;
  readonly facts: () => Facts;
  readonly timeoutMs: number;
  /** Told of a change before those who watch are. */
  changed(list: ListName | undefined, uri: string | undefined): void;
}

/** Notices that a list has changed become one in so many milliseconds: each of them makes every client list again. */
const LIST_NOTICE_MS = 1_000;

const LISTS: Readonly<Record<string, ListName>> = {
  'notifications/resources/list_changed': 'resources',
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
};

/** The notifications about a task, in either era. */
const TASKS: ReadonlySet<string> = new Set(['notifications/tasks/status', 'notifications/tasks']);

export function createWatching({ name, log, supervisor, facts, timeoutMs, changed }: WatchingSetup): Watching {
  /** Lists that were told of a little while ago, and whether they have changed since. */
  const noticed = new Map<ListName, boolean>();
  const timers = new Set<NodeJS.Timeout>();
  const listening = createListening<Link, () => void>({
    connection: supervisor,
    timeoutMs,
    tells(list) {
      const { tellsResources, tellsTools, tellsPrompts } = facts();
      return { resources: tellsResources, tools: tellsTools, prompts: tellsPrompts }[list];
    },
    // Clients come and go, and some servers over stdio end every stream of a connection with one of them.
    listsTogether: true,
    subscribes: () => facts().subscribe,
    refusal: (uri) => invalid('This resource cannot be subscribed to', uri),
    reopened: tellAll,
    restored: tell,
    failed: (what, error, uri) =>
      log.warn(`an upstream ${what}`, { mount: name, ...(uri !== undefined && { uri }), error }),
    notTold: (error, uri) => log.debug('an upstream was not told of an end', { mount: name, uri, error }),
  });

  function tellAll(): void {
    for (const list of Object.values(LISTS)) {
      changed(list, undefined);
      tellList(list);
    }
    for (const uri of listening.uris) tell(uri);
  }

  function tell(uri: string): void {
    changed(undefined, uri);
    for (const listener of listening.of(uri)) listener();
  }

  function tellList(list: ListName): void {
    for (const listener of listening.ofList(list)) listener();
  }

  /** Forgets what was kept of the list at each notice; reports at once, and then not before `LIST_NOTICE_MS` are over. */
  function listNoticed(list: ListName): void {
    changed(list, undefined);
    if (noticed.has(list)) noticed.set(list, true);
    else tellInTurn(list);
  }

  function tellInTurn(list: ListName): void {
    noticed.set(list, false);
    tellList(list);
    const timer = setTimeout(() => {
      timers.delete(timer);
      const again = noticed.get(list) === true;
      noticed.delete(list);
      if (again) tellInTurn(list);
    }, LIST_NOTICE_MS);
    timer.unref();
    timers.add(timer);
  }

  return {
    async resource(uri, onChange, ctx) {
      const listener = (): void => onChange();
      await listening.add(uri, listener, ctx.signal);
      return { [Symbol.asyncDispose]: () => listening.remove(uri, listener) };
    },

    async list(list, onChange) {
      const listener = (): void => onChange();
      listening.addTo(list, listener);
      const link = supervisor.current;
      // While it is away there is nothing to wait for: when it is back, everybody is told.
      if (link?.era === 'modern') await listening.listen(link).catch(() => listening.listenLater(link));
      return { [Symbol.asyncDispose]: () => listening.removeFrom(list, listener) };
    },

    async task(taskId, onChange) {
      const listener = (): void => onChange();
      await listening.addToTask(taskId, listener);
      return { [Symbol.asyncDispose]: () => listening.removeFromTask(taskId, listener) };
    },

    notified(method, params) {
      if (method === 'notifications/resources/updated' && typeof params.uri === 'string') {
        changed(undefined, params.uri);
        for (const uri of listening.watchedBy(params.uri)) tell(uri);
      }
      if (TASKS.has(method) && typeof params.taskId === 'string')
        for (const listener of listening.ofTask(params.taskId)) listener();
      const list = LISTS[method];
      if (list !== undefined) listNoticed(list);
    },

    restore: (link) => void listening.restore(link).catch(() => {}),
    // After what is under way: the ones that are told look, and must find what they look at.
    missed: () => void listening.settled().then(tellAll),

    get size() {
      return listening.size;
    },
    get busy() {
      return listening.busy;
    },

    async close() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      await listening.close(new ResourceError('unavailable', 'The server is shutting down'));
    },
  };
}
