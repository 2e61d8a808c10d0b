/** Mounts another MCP server: its resources become a provider, its tools and prompts are offered beside it. */
import type { Era } from '../../connection/data.ts';
import { type Context, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { MountedServer } from '../../core/mounts/mounted-server.ts';
import type { ResourceProvider } from '../../core/provider.ts';
import type { ListName } from '../../protocol/list-name.ts';
import { DIRECTORY_READ_METHOD, METADATA_METHOD } from '../../protocol/methods.ts';
import { GET_SKILL_METHOD, LIST_SKILLS_METHOD } from '../../protocol/skills.ts';
import { createAsking, DEFAULT_CALL_TIMEOUT_MS, DEFAULT_TIMEOUT_MS } from './asking.ts';
import { createBorder } from './border/index.ts';
import { createCache } from './cache.ts';
import { createCalls } from './calls.ts';
import { createConnections } from './connections.ts';
import { type Facts, factsOf, hasTasks } from './facts.ts';
import type { Introduction } from './introduction.ts';
import { isStdio, type UpstreamOptions } from './options.ts';
import { createPins, type PinReview } from './pins/index.ts';
import { resourcesProvider } from './resources.ts';
import { createSaid } from './said.ts';
import { mountedServer } from './server.ts';
import { createWatching } from './watching.ts';
import { wholeList } from './whole-list.ts';
import type { LinkFacts } from './wire/link.ts';

export type { ClientIntroduction, HttpTarget, StdioTarget, UpstreamOptions, UpstreamTarget } from './options.ts';
export type { PinChange, PinReview } from './pins/index.ts';

/** Methods whose answers describe resources. */
const DESCRIBING = ['resources/list', DIRECTORY_READ_METHOD, METADATA_METHOD, LIST_SKILLS_METHOD, GET_SKILL_METHOD];

/** Whether a list is of the server itself, and not of its resources. */
const isOfServer = (key: string): boolean => key === 'tools' || key === 'prompts';

/** The state of an upstream, for people and for the status resource. Nothing in it is secret. */
export interface UpstreamHealth extends Introduction {
  readonly state: 'idle' | 'connecting' | 'ready' | 'away';
  readonly era?: '2025' | '2026-07-28' | undefined;
  readonly server?: string | undefined;
  readonly version?: string | undefined;
  /** Open connections: the shared one and those of clients. */
  readonly connections: number;
  /** How many times the shared connection was opened again. */
  readonly restarts: number;
  /** How often an attempt to connect has failed, or the shared connection has ended, since its last good connection. */
  readonly failures: number;
  readonly lastError?: string | undefined;
  /** The number of watched resources. */
  readonly watched: number;
}

export interface Upstream {
  /** Closing it closes the upstream. */
  readonly provider: ResourceProvider;
  readonly server: MountedServer;
  /** Waits at most `timeoutMs` (default: the time for connecting) until the server is connected; resolves to whether it is. */
  ready(timeoutMs?: number): Promise<boolean>;
  /**
   * Whether the server can be reached: asks it over the shared connection. If that is not open: true if it is closed
   * because no request needs it, or if a client's own connection is open.
   */
  check(timeoutMs: number): Promise<boolean>;
  health(): UpstreamHealth;
  /** Compares the server's tools and prompts with the accepted ones; undefined where they are not fixed (`pins`). */
  readonly review: ((ctx: Context) => Promise<PinReview>) | undefined;
  close(): Promise<void>;
}

/** Makes an upstream. Eager ones begin to connect at once. */
export function upstream(options: UpstreamOptions): Upstream {
  const { name, log = SILENT, start = 'eager' } = options;
  let reached: LinkFacts | undefined;
  /** Whether the server has tasks, for each era in which it was connected. */
  const tasks = new Map<Era, boolean>();
  const facts = (): Facts => factsOf(reached);
  const said = createSaid(options.target);
  const calls = createCalls(said);
  const cache = createCache();
  const border = createBorder(name);
  const connections = createConnections(options, {
    logged: (link, params) => calls.logged(link, params),
    asked: (link, ask, request, signal) => calls.asked(link, ask, request, signal),
    opened: (link) => void tasks.set(link.era, hasTasks(link)),
    up(link) {
      reached = link;
    },
    watching: (supervisor) =>
      createWatching({ name, log, supervisor, facts, timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, changed }),
  });
  const asking = createAsking(options, connections, cache, calls);
  // All replicas use the same server behind a URL. Each replica starts a program of its own.
  const isShared = !isStdio(options.target);

  /** Removes cached answers, lists and descriptions that a change may have made stale. */
  function changed(list: ListName | undefined, uri: string | undefined): void {
    const views = connections.all();
    if (uri !== undefined) {
      // If the resource is a container, its children may have changed.
      for (const method of ['resources/read', ...DESCRIBING]) cache.forget(method);
    }
    if (list === 'resources') {
      for (const method of ['resources/templates/list', ...DESCRIBING]) cache.forget(method);
    }
    if (uri !== undefined || list === 'resources') {
      for (const { lists, known } of views) {
        lists.forget((key) => !isOfServer(key));
        known.clear();
      }
    }
    if (list === 'tools' || list === 'prompts') {
      cache.forget(`${list}/list`);
      for (const { lists } of views) lists.forget((key) => key === list);
    }
    if (list === 'tools') server.changed();
  }

  const pins =
    options.pins &&
    createPins({
      mount: name,
      file: options.pins.file,
      log,
      list: (kind, ctx) => wholeList({ asking, border, facts, name }, kind, ctx),
    });

  const server = mountedServer({
    facts,
    taskEras: () => [...tasks].flatMap(([era, has]) => (has ? [era] : [])),
    instructions: () => reached?.instructions,
    asking,
    calls,
    said,
    connections,
    border,
    pins,
    texts: options.texts ?? 'as-is',
    results: options.results ?? 'mark',
    callTimeoutMs: options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS,
    name,
    transport: isStdio(options.target) ? 'pipe' : 'tcp',
    heard: isShared ? (list) => changed(list, undefined) : undefined,
  });

  const keeping = start === 'eager' ? connections.shared.supervisor.keep() : undefined;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= (async () => {
      keeping?.[Symbol.dispose]();
      calls.close();
      await connections.close();
      cache.clear();
    })());

  return {
    provider: resourcesProvider({
      ...{ name, schemes: options.schemes, facts, asking, border, connections, close },
      heard: isShared
        ? (event) => (event.kind === 'updated' ? changed(undefined, event.uri) : changed('resources', undefined))
        : undefined,
    }),
    server,
    review: pins && ((ctx) => pins.review(ctx)),
    async ready(timeoutMs) {
      try {
        await connections.shared.supervisor.get(timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs));
        return true;
      } catch (error) {
        if (error instanceof ResourceError || (error instanceof Error && error.name === 'TimeoutError')) return false;
        throw error;
      }
    },
    async check(timeoutMs) {
      const { current, state } = connections.shared.supervisor;
      if (current !== undefined) return current.alive(timeoutMs);
      // When each client has its own connection, the shared one may be closed.
      return state === 'idle' || connections.all().some(({ supervisor }) => supervisor.state === 'ready');
    },
    health() {
      const views = connections.all();
      const { state, failures, lastError, opened } = connections.shared.supervisor;
      const open = views.filter(({ supervisor }) => supervisor.state === 'ready').length;
      return {
        state: open > 0 ? 'ready' : state,
        era: reached === undefined ? undefined : reached.era === 'modern' ? '2026-07-28' : '2025',
        server: reached?.name,
        version: reached?.version,
        ...reached?.introduction,
        connections: open,
        restarts: Math.max(0, opened - 1),
        failures,
        lastError,
        watched: [...new Set(views.map(({ watching }) => watching))].reduce((sum, each) => sum + each.size, 0),
      };
    },
    close,
  };
}
