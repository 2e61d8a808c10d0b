/**
 * Decides which connection serves which client.
 *
 * - A server of 2026-07-28 has one connection for all clients, because every request says whose it is. If the server also
 *   speaks 2025, a client of 2025 that would miss its questions or log messages gets a connection in its own era beside it,
 *   since most servers send these in that era alone.
 * - A 2025-era server knows one client per connection. So a client that it may ask, or that calls its tools, gets a connection
 *   of its own, and all that the server sends on it is for that client. A client whose own connection to Vitrine lasts only
 *   for a request is lent one for each call, if it can be asked or wants log messages. If each connection starts a program, all
 *   work of the client goes over its own, since each program has its own state. All other clients share one connection, on
 *   which Vitrine declares no capabilities, so the server can ask nobody.
 * - If there will be only one client, the shared connection is its own, so that a program is started once.
 */
import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import type { Data, Era } from '../../connection/data.ts';
import { CONNECT_MS } from '../../connection/dial.ts';
import type { Waits } from '../../connection/supervisor.ts';
import { type ClientFeatures, type Context, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { ListName } from '../../protocol/list-name.ts';
import { createBar } from './bar.ts';
import { askable, capabilitiesOf, isOf2025, lasts } from './clients.ts';
import { isStdio, type UpstreamOptions } from './options.ts';
import { createOwnedViews } from './owned-views.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { type Ask, createView, type View } from './view.ts';
import type { Watching } from './watching.ts';
import { type Link, openLink, type Spoken, type Verdict } from './wire/link.ts';

/** Handlers of the events of connections. */
export interface ConnectionEvents {
  /** The server has sent a log message. */
  logged(link: Link, params: Data): void;
  /**
   * The server asks the client a question.
   * @param link undefined while the connection is being opened
   * @param ask asks the client that the connection is for
   */
  asked(link: Link | undefined, ask: Ask, request: JSONRPCRequest, signal: AbortSignal): Promise<Data>;
  /** A connection is open, whichever client it is for. */
  opened(link: Link): void;
  /** The shared connection is open, or a client's own connection to a server of 2025. */
  up(link: Link): void;
  /** Makes the watches of a connection. */
  watching(supervisor: Supervisor): Watching;
}

/** A connection for one call. */
export interface Lease {
  readonly link: Link;
  /** Whether the connection is this client's alone as long as the lease lasts. */
  readonly own: boolean;
  /** The client has gone, and what runs on the connection ends soon. Undefined if that would be in the way of other calls. */
  readonly leave?: (() => void) | undefined;
  /** @param reusable whether nothing of the call can still run on the connection */
  release(reusable: boolean): void;
}

export interface Connections {
  readonly shared: View;
  /** Returns the view of a client, for all its work but calls. */
  of(ctx: Context): Promise<View>;
  /** Waits until the server is connected, before a list. @throws ResourceError `unavailable` if connecting takes too long */
  here(ctx: Context): Promise<void>;
  /** Watches a list from now on, even if the server cannot be reached until later. */
  watchList(list: ListName, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** Returns a connection for a call of a tool or prompt. */
  forCall(ctx: Context): Promise<Lease>;
  /** Whether two clients may see different things, because their connections start different programs. */
  readonly apart: boolean;
  /** Returns all present views. */
  all(): readonly View[];
  close(): Promise<void>;
}

export const DEFAULT_MAX_CONNECTIONS = 32;

/** How long a request waits for a server that is starting, in milliseconds: clients do not wait much longer. */
export const REQUEST_WAITS: Waits = { ms: 20_000, since: 'now' };

/** How long a list waits for a server that is starting, in milliseconds from its start. */
const DEFAULT_STARTING_MS = 5_000;

/** How long a server of 2026 that refused a connection of 2025 is not asked for another one, in milliseconds. */
const MODERN_ONLY_MS = 10 * 60_000;

/** The verdict for speaking 2025 without asking the server for its era. */
const LEGACY: Verdict = { prior: { kind: 'legacy' }, at: Number.POSITIVE_INFINITY };

export function createConnections(options: UpstreamOptions, events: ConnectionEvents): Connections {
  const { name, log = SILENT, maxConnections = DEFAULT_MAX_CONNECTIONS, connections = 'client' } = options;
  const isProgram = isStdio(options.target);
  const timeoutMs = options.connectTimeoutMs ?? (isProgram ? CONNECT_MS.program : CONNECT_MS.url);
  /** The era that the server speaks, except over a `second` connection; undefined while it is not known. */
  let verdict: Verdict | undefined = options.era === '2025' ? LEGACY : undefined;
  /** Until this time, a server of 2026 is assumed not to speak 2025 as well. */
  let modernOnlyUntil = 0;
  const listWaits: Waits = { ms: options.startingMs ?? DEFAULT_STARTING_MS, since: 'begun' };
  /** Handlers of list watches that began before the server was reached. */
  const early = new Set<() => void>();
  const bar = createBar();
  const lifetime = new AbortController();

  /** Opens a connection. @param spoken the era to speak. Default: the era that the server is known to speak */
  async function open(
    capabilities: Data,
    view: () => View,
    signal: AbortSignal,
    spoken: Spoken = { verdict },
  ): Promise<Link> {
    const fixed = spoken.verdict === LEGACY;
    let link: Link | undefined;
    try {
      const found = await openLink(
        options,
        capabilities,
        spoken,
        {
          notified(method, params) {
            if (link === undefined) return;
            if (method === 'notifications/message') events.logged(link, params);
            else view().watching.notified(method, params);
          },
          asked: (request, asking) => events.asked(link, view().ask, request, asking),
          missed: () => link && view().watching.missed(),
          cutOff: bar.close,
          ended: (cutOff) => link && view().supervisor.ended(link, cutOff),
        },
        { timeoutMs, log, signal },
      );
      link = found.link;
      if (!fixed) verdict = found.verdict;
      for (const reached of early) reached();
      early.clear();
      return link;
    } catch (error) {
      // The server may speak another era when it comes back.
      if (!fixed) verdict = undefined;
      throw error;
    }
  }

  type Open = (signal: AbortSignal, view: () => View) => Promise<Link>;

  /** Opens a connection on which the server can ask nobody. */
  const openShared: Open = (signal, view) => open({}, view, signal);

  /** Opens the connection of the only client: for a client of 2025 in that era, if the server speaks it. */
  async function forSole(client: Promise<ClientFeatures>, signal: AbortSignal): Promise<Link> {
    const { ask, ...features } = await abortable(client, signal);
    shared.ask ??= ask;
    const first = ask === undefined ? 'modern' : 'legacy';
    const link = await open(capabilitiesOf({ client: features }), () => shared, signal, { verdict, first });
    if (first === 'legacy' && link.era === 'modern') modernOnlyUntil = Number.POSITIVE_INFINITY;
    return link;
  }

  /**
   * @param sharing the view whose watches this one uses; undefined for watches of its own
   * @param second whether this is a connection of 2025 to a server to which other clients speak 2026
   */
  function viewOf(key: string, opening: Open, sharing?: View, second = false): View {
    const supervisor = createSupervisor({
      name,
      log: second ? { ...log, warn: log.debug } : log,
      open: (signal) => opening(AbortSignal.any([signal, lifetime.signal]), () => view),
      up(link, again) {
        events.opened(link);
        if (!second) events.up(link);
        // Watches on a server behind a URL go over the shared connection.
        if (sharing !== undefined) return;
        view.watching.restore(link);
        if (again) view.watching.missed();
      },
      barred: bar,
      isProgram,
    });
    const view: View = createView(key, name, supervisor, events.watching, sharing);
    return view;
  }

  const sole = isProgram && connections === 'client' ? options.sole : undefined;
  const shared = viewOf('shared', sole === undefined ? openShared : (signal) => forSole(sole, signal));
  const owned = createOwnedViews({ name, log, max: maxConnections, isProgram, shared });

  /** @throws the reason of the end, after `close` */
  function openOwn(key: string, ctx: Context): View {
    lifetime.signal.throwIfAborted();
    const second = eraNow() === 'modern';
    const capabilities = capabilitiesOf(ctx);
    const opening: Open = (signal, viewNow) =>
      open(capabilities, viewNow, signal, second ? { verdict: LEGACY } : undefined);
    const view = viewOf(key, opening, isProgram ? undefined : shared, second);
    view.ask = ctx.client?.ask;
    owned.add(view);
    return view;
  }

  /** The era of the server: that of its open connection where another one could not be opened. Undefined if not known. */
  const eraNow = (): Era | undefined => verdict?.prior.kind ?? shared.supervisor.current?.era;

  /** The same, but waits for the server if it has not been reached yet. */
  const eraFor = async (ctx: Context): Promise<Era> =>
    eraNow() ?? (await shared.supervisor.get(ctx.signal, REQUEST_WAITS)).era;

  /** Whether this client may get a connection of its own. Waits for the server if it has not been reached yet. */
  async function keepsApart(ctx: Context): Promise<boolean> {
    if (connections === 'shared') return false;
    const era = await eraFor(ctx);
    if (era === 'legacy') return true;
    if (options.era === '2026' || !lasts(ctx) || !isOf2025(ctx) || !needsOwnEra(ctx)) return false;
    return hasBothEras(ctx);
  }

  /** Whether the shared connection is the only client's own. Waits for the server if it has not been reached yet. */
  async function isOfSole(ctx: Context): Promise<boolean> {
    if (sole === undefined) return false;
    return (await eraFor(ctx)) === 'legacy';
  }

  /** Whether a client of 2025 would miss questions or log messages of the server without a connection in its own era. */
  const needsOwnEra = (ctx: Context): boolean =>
    askable(ctx) || shared.supervisor.current?.capabilities.logging !== undefined;

  /** Finds out whether a server of 2026 also speaks 2025, by opening the client's own connection. Keeps it if so. */
  async function hasBothEras(ctx: Context): Promise<boolean> {
    if (Date.now() < modernOnlyUntil) return false;
    const view = withKey(peerKey(ctx), ctx);
    if (view === undefined) return false;
    try {
      await view.supervisor.get(ctx.signal, REQUEST_WAITS);
      return true;
    } catch (error) {
      ctx.signal.throwIfAborted();
      // A server that has accepted this client before cannot be reached now, and one that is starting has not answered yet.
      if (view.supervisor.opened > 0 || view.supervisor.state === 'connecting') throw error;
      modernOnlyUntil = Date.now() + MODERN_ONLY_MS;
      owned.discard(view);
      log.debug('an upstream of 2026 does not speak 2025', { mount: name });
      return false;
    }
  }

  /** Returns the view with a key, opened if there is room; undefined if there is none. */
  function withKey(key: string, ctx: Context): View | undefined {
    const view = owned.find(key);
    if (view !== undefined) return touched(view, ctx);
    if (owned.hasRoom()) return openOwn(key, ctx);
    log.warn('too many clients: one shares a connection, where the server cannot ask it', { mount: name });
    return undefined;
  }

  function touched(view: View, ctx: Context): View {
    view.usedAt = Date.now();
    view.ask = ctx.client?.ask ?? view.ask;
    return view;
  }

  const peerKey = (ctx: Context): string => `peer ${ctx.peer}`;

  /** The key of connections for clients without a lasting connection: those of one principal with the same capabilities. */
  const lentKey = (ctx: Context): string => JSON.stringify(['lent', ctx.principal.id, capabilitiesOf(ctx)]);

  /** Returns the client's own view for work that is not a call; undefined if it uses the shared one. */
  function ownOf(ctx: Context): View | undefined {
    // Work without a client's request opens no connection, but may use one that the client has.
    if (ctx.client === undefined) return lasts(ctx) ? owned.find(peerKey(ctx)) : undefined;
    if (lasts(ctx)) return isProgram || askable(ctx) ? withKey(peerKey(ctx), ctx) : owned.find(peerKey(ctx));
    return isProgram && askable(ctx) ? withKey(lentKey(ctx), ctx) : undefined;
  }

  async function borrow(view: View, exclusive: boolean, ctx: Context): Promise<Lease> {
    view.running++;
    touched(view, ctx);
    let released = false;
    let ended = (): void => {};
    const leave = (): void => {
      if (released) return;
      view.ending = new Promise((resolve) => {
        ended = resolve;
      });
    };
    const release = (reusable: boolean): void => {
      if (released) return;
      released = true;
      view.running--;
      view.usedAt = Date.now();
      view.ending = undefined;
      ended();
      if (exclusive && !reusable) owned.discard(view);
    };
    try {
      const link = await view.supervisor.get(ctx.signal, REQUEST_WAITS);
      return { link, own: true, release, ...(exclusive && { leave }) };
    } catch (error) {
      release(false);
      throw error;
    }
  }

  /** Lends a connection to a client without a lasting one. No other call uses it meanwhile. */
  async function lend(ctx: Context): Promise<Lease> {
    const key = lentKey(ctx);
    // Late log messages of one call must not be taken for those of the next, so a client that wants them gets a fresh connection.
    const wantsLogs = ctx.client?.logLevel !== undefined;
    while (!wantsLogs) {
      // Nothing is awaited between finding a view and borrowing it, so that no two calls get the same.
      const view = owned.findFree(key);
      if (view !== undefined) return borrow(view, true, ctx);
      const ending = owned.findEnding(key)?.ending;
      if (ending === undefined) break;
      await abortable(ending, ctx.signal);
    }
    if (!owned.hasRoom())
      throw new ResourceError('limited', `Too many calls wait for the server behind "${name}"; try later`);
    const lease = await borrow(openOwn(wantsLogs ? `fresh ${crypto.randomUUID()}` : key, ctx), true, ctx);
    // Nobody else gets a fresh connection, so a read on it need not finish.
    return wantsLogs ? { ...lease, leave: undefined, release: () => lease.release(false) } : lease;
  }

  async function leaseShared(ctx: Context): Promise<Lease> {
    shared.usedAt = Date.now();
    return { link: await shared.supervisor.get(ctx.signal, REQUEST_WAITS), own: false, release: () => {} };
  }

  async function of(ctx: Context): Promise<View> {
    if (await isOfSole(ctx)) return touched(shared, ctx);
    const view = (await keepsApart(ctx)) ? ownOf(ctx) : undefined;
    if (view !== undefined) return view;
    shared.usedAt = Date.now();
    return shared;
  }

  const watchIn = (view: View, ...args: Parameters<Watching['list']>): Promise<AsyncDisposable> => {
    view.watched = true;
    return view.watching.list(...args);
  };

  /** Watches over the shared connection until the server is reached, then over the client's own if it has one. */
  async function watchEarly(...args: Parameters<Watching['list']>): Promise<AsyncDisposable> {
    const [, onChange, ctx] = args;
    let watch = watchIn(shared, ...args);
    let ended = false;
    async function move(): Promise<void> {
      const view = await of(ctx);
      if (ended || view === shared) return;
      const before = watch;
      watch = watchIn(view, ...args);
      await (await before)[Symbol.asyncDispose]();
      onChange();
    }
    const reached = (): void => void move().catch((error: unknown) => log.debug('upstream', { mount: name, error }));
    early.add(reached);
    await watch;
    return {
      async [Symbol.asyncDispose]() {
        ended = true;
        early.delete(reached);
        await (await watch)[Symbol.asyncDispose]();
      },
    };
  }

  return {
    shared,
    of,
    async here(ctx) {
      if (eraNow() === undefined) await shared.supervisor.get(ctx.signal, listWaits);
      const view = await of(ctx);
      await view.supervisor.get(ctx.signal, listWaits);
    },
    async watchList(...args) {
      return eraNow() === undefined ? watchEarly(...args) : watchIn(await of(args[2]), ...args);
    },
    async forCall(ctx) {
      if (await isOfSole(ctx)) return borrow(shared, false, ctx);
      if (!(await keepsApart(ctx))) return leaseShared(ctx);
      if (lasts(ctx)) {
        const view = withKey(peerKey(ctx), ctx);
        return view === undefined ? leaseShared(ctx) : borrow(view, false, ctx);
      }
      return askable(ctx) || ctx.client?.logLevel !== undefined ? lend(ctx) : leaseShared(ctx);
    },
    get apart() {
      if (!isProgram || connections === 'shared') return false;
      return owned.size > 0 || (sole === undefined && eraNow() !== 'modern');
    },
    all: () => [shared, ...owned],
    async close() {
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      await Promise.allSettled([shared.close(), owned.close()]);
    },
  };
}
