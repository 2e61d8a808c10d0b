/** Reports changes at an upstream to watchers. If notifications may be lost, reports everything that is watched as changed. */
import type { Data } from '../../connection/data.ts';
import { createListening } from '../../connection/listening.ts';
import type { Context, Log } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ListName } from '../../protocol/list-name.ts';
import type { Facts } from './facts.ts';
import type { Supervisor } from './supervisor.ts';
import type { Link } from './wire/link.ts';

export interface Watching {
  /** Watches a resource. @throws ResourceError `unavailable`; `invalid` for a resource that the upstream lets nobody watch */
  resource(uri: string, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Watches a list. Never calls `onChange` if the upstream sends no notifications of its changes. */
  list(list: ListName, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Calls `onChange` when the upstream sends a notification about a task, if it does so at all. */
  task(taskId: string, onChange: () => void): Promise<AsyncDisposable>;
  /** Handles a notification of the upstream. */
  notified(method: string, params: Data): void;
  /** Sets all watches on the connection, which has just come up. */
  restore(link: Link): void;
  /** Reports everything that is watched as changed, because notifications may have been missed. */
  missed(): void;
  /** The number of watched resources. */
  readonly size: number;
  /** Whether anything is watched. */
  readonly busy: boolean;
  close(): Promise<void>;
}

export interface WatchingSetup {
  readonly name: string;
  readonly log: Log;
  /** The supervisor of the connection that notifications arrive over. */
  readonly supervisor: Supervisor;
  readonly facts: () => Facts;
  readonly timeoutMs: number;
  /** Called with each change before its watchers are notified. */
  changed(list: ListName | undefined, uri: string | undefined): void;
}

/** A list is reported as changed at most once in this many milliseconds, since each report makes every client list again. */
const LIST_NOTICE_MS = 1_000;

const LISTS: Readonly<Record<string, ListName>> = {
  'notifications/resources/list_changed': 'resources',
  'notifications/tools/list_changed': 'tools',
  'notifications/prompts/list_changed': 'prompts',
};

/** The notifications about a task, in either era. */
const TASKS: ReadonlySet<string> = new Set(['notifications/tasks/status', 'notifications/tasks']);

export function createWatching({ name, log, supervisor, facts, timeoutMs, changed }: WatchingSetup): Watching {
  /** Lists that were reported less than `LIST_NOTICE_MS` ago, and whether they have changed since. */
  const noticed = new Map<ListName, boolean>();
  const timers = new Set<NodeJS.Timeout>();
  const listening = createListening<Link, () => void>({
    connection: supervisor,
    timeoutMs,
    tells(list) {
      const { tellsResources, tellsTools, tellsPrompts } = facts();
      return { resources: tellsResources, tools: tellsTools, prompts: tellsPrompts }[list];
    },
    // All lists share one stream: clients come and go, and some servers over stdio end all streams when one of them ends.
    listsTogether: true,
    subscribes: () => facts().subscribe,
    refusal: (uri) => invalid('This resource cannot be subscribed to', uri),
    reopened: tellAll,
    restored: tell,
    failed: (what, error, uri) =>
      log.warn(`an upstream ${what}`, { mount: name, ...(uri !== undefined && { uri }), error }),
    notTold: (error, uri) =>
      log.debug('an upstream could not be told that a watch has ended', { mount: name, uri, error }),
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

  /** Handles a notice that a list has changed: reports the change to the cache at once, and to watchers in turn. */
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
      // While the server is away there is nothing to wait for: when it is back, all lists are reported as changed.
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
    // Waits for watches that are being set, so that a watcher that looks again after the notification misses no later change.
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
