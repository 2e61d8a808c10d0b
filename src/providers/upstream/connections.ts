/**
 * Which connection serves whom. A server of 2026-07-28 has one: there every request says whose it is; a client of 2025 has one
 * of its own era beside it where the server has both, since most servers ask in that era alone. A 2025-era server
 * knows one client a connection, so one that it may ask, or that works with its tools, gets a connection of its own, and
 * what the server sends on it can only be for that client. Where that is a program of its own, all of the client's work
 * goes there, since each has its own state. Everybody else shares one, on which the server is told that nobody can be asked.
 * If there will be one client alone, the shared one is that client's own: a program is started once, for it.
 */
import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import type { Data } from '../../connection/data.ts';
import { CONNECT_MS } from '../../connection/dial.ts';
import type { Waits } from '../../connection/supervisor.ts';
import { type ClientFeatures, type Context, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { abortable } from '../../core/waiting/abortable.ts';
import type { ListName } from '../../protocol/list-name.ts';
import { createBar } from './bar.ts';
import { askable, capabilitiesOf, isOf2025, lasts } from './clients.ts';
import { isStdio, type UpstreamOptions } from './options.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { type Ask, createView, isIdle, type View } from './view.ts';
import type { Watching } from './watching.ts';
import { type Link, openLink, type Spoken, type Verdict } from './wire/link.ts';

/** Handlers of the events of connections; `watching` makes what each connection needs for watches. */
export interface ConnectionEvents {
  logged(link: Link, params: Data): void;
  /** @param link undefined while it is being opened; @param ask the client that it is opened for */
  asked(link: Link | undefined, ask: Ask, request: JSONRPCRequest, signal: AbortSignal): Promise<Data>;
  /** One is open, whoever it is for. */
  opened(link: Link): void;
  /** The one that everybody shares is, or a client's own to a server of 2025. */
  up(link: Link): void;
  watching(supervisor: Supervisor): Watching;
}

/** A connection for one call. */
export interface Lease {
  readonly link: Link;
  /** The connection is this client's alone as long as the lease lasts. */
  readonly own: boolean;
  /** @param reusable whether nothing of the call can still be under way on it */
  release(reusable: boolean): void;
}

export interface Connections {
  readonly shared: View;
  /** The view through which a client looks at things. */
  of(ctx: Context): Promise<View>;
  /** Waits for what a list is of, which others are listed beside: a while from the start, and not at all later. */
  here(ctx: Context): Promise<void>;
  /** Told of changes of a list from now on, also those of a server that only comes later. */
  watchList(list: ListName, onChange: () => void, ctx: Context): Promise<AsyncDisposable>;
  /** For tools and prompts. */
  forCall(ctx: Context): Promise<Lease>;
  /** Whether what one client sees may not be what another one sees. */
  readonly apart: boolean;
  /** All that there are now. */
  all(): readonly View[];
  close(): Promise<void>;
}

export const DEFAULT_MAX_CONNECTIONS = 32;

/** How long a request waits for a server that is starting, in milliseconds: clients do not wait much longer. */
export const REQUEST_WAITS: Waits = { ms: 20_000, since: 'now' };

/** Likewise a list, from the start of the server. */
const DEFAULT_STARTING_MS = 5_000;

/** A connection of a client that has not used it for so long is closed, in milliseconds. */
const IDLE_MS = 5 * 60_000;

/** One whose client watched changes and does not any more: the client has gone. */
const LEFT_MS = 15_000;

/** The shared one, where everybody has one of their own. */
const UNSHARED_MS = 60_000;

const SWEEP_MS = 10_000;

/** A server of 2026 that refused a connection of 2025 is not asked for one again for so long, in milliseconds. */
const MODERN_ONLY_MS = 10 * 60_000;

/** A server that is spoken to in 2025 without being asked. */
const LEGACY: Verdict = { prior: { kind: 'legacy' }, at: Number.POSITIVE_INFINITY };

export function createConnections(options: UpstreamOptions, events: ConnectionEvents): Connections {
  const { name, log = SILENT, maxConnections = DEFAULT_MAX_CONNECTIONS, connections = 'client' } = options;
  const isProgram = isStdio(options.target);
  const timeoutMs = options.connectTimeoutMs ?? (isProgram ? CONNECT_MS.program : CONNECT_MS.url);
  /** The era that the server speaks, except over a `second` connection; undefined while it is not known. */
  let verdict: Verdict | undefined = options.era === '2025' ? LEGACY : undefined;
  /** Until when a server of 2026 is taken for one that does not have 2025, too. */
  let modernOnlyUntil = 0;
  const listWaits: Waits = { ms: options.startingMs ?? DEFAULT_STARTING_MS, since: 'begun' };
  /** Those who watch lists of a server that was not reached yet. */
  const early = new Set<() => void>();
  const bar = createBar();
  const owned = new Set<View>();
  const lifetime = new AbortController();
  const sweep = setInterval(expire, SWEEP_MS);
  sweep.unref();

  /** @param spoken default: what is known of the server */
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
      for (const arrived of early) arrived();
      early.clear();
      return link;
    } catch (error) {
      // It may be another era by now that it speaks.
      if (!fixed) verdict = undefined;
      throw error;
    }
  }

  type Open = (signal: AbortSignal, view: () => View) => Promise<Link>;

  const nobody: Open = (signal, view) => open({}, view, signal);

  /** The only client's connection: for one of 2025 in that era, where the server has it. */
  async function forSole(client: Promise<ClientFeatures>, signal: AbortSignal): Promise<Link> {
    const { ask, ...features } = await abortable(client, signal);
    shared.ask ??= ask;
    const first = ask === undefined ? 'modern' : 'legacy';
    const link = await open(capabilitiesOf({ client: features }), () => shared, signal, { verdict, first });
    if (first === 'legacy' && link.era === 'modern') modernOnlyUntil = Number.POSITIVE_INFINITY;
    return link;
  }

  /** @param second of 2025, to a server that others speak 2026 to */
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
  const shared = viewOf('shared', sole === undefined ? nobody : (signal) => forSole(sole, signal));

  function openOwn(key: string, ctx: Context): View {
    const second = verdict?.prior.kind === 'modern';
    const capabilities = capabilitiesOf(ctx);
    const opening: Open = (signal, its) => open(capabilities, its, signal, second ? { verdict: LEGACY } : undefined);
    const view = viewOf(key, opening, isProgram ? undefined : shared, second);
    view.ask = ctx.client?.ask;
    owned.add(view);
    return view;
  }

  function discard(view: View): void {
    owned.delete(view);
    view.close().catch((error: unknown) => log.debug('upstream', { mount: name, error }));
  }

  function expire(): void {
    const unusedFor = (view: View): number => Date.now() - view.usedAt;
    for (const view of owned) {
      // Behind a URL everybody watches over the shared connection: that says nothing of this one.
      const idle = view.running === 0 && (!isProgram || !view.watching.busy);
      if (idle && unusedFor(view) > (isProgram && view.watched ? LEFT_MS : IDLE_MS)) discard(view);
    }
    if (isProgram && owned.size > 0 && isIdle(shared) && unusedFor(shared) > UNSHARED_MS) {
      if (shared.supervisor.current !== undefined) void shared.supervisor.rest();
    }
  }

  /** Room for one more, made by closing the one that was unused for longest. */
  function hasRoom(): boolean {
    if (owned.size < maxConnections) return true;
    const idle = [...owned].filter((view) => view.running === 0 && (!isProgram || !view.watching.busy));
    const oldest = idle.reduce<View | undefined>((a, b) => (a === undefined || b.usedAt < a.usedAt ? b : a), undefined);
    if (oldest === undefined) return false;
    discard(oldest);
    return true;
  }

  /** Whether each client gets its own; known once the server has been reached. */
  async function keepsApart(ctx: Context): Promise<boolean> {
    if (connections === 'shared') return false;
    if (verdict === undefined) await shared.supervisor.get(ctx.signal, REQUEST_WAITS);
    if (verdict?.prior.kind === 'legacy') return true;
    if (options.era === '2026' || !lasts(ctx) || !isOf2025(ctx) || !speaksOf2025(ctx)) return false;
    return hasBothEras(ctx);
  }

  /** Whether the shared connection is the only client's own, known once the server has been reached. */
  async function isOfSole(ctx: Context): Promise<boolean> {
    if (sole === undefined) return false;
    if (verdict === undefined) await shared.supervisor.get(ctx.signal, REQUEST_WAITS);
    return verdict?.prior.kind === 'legacy';
  }

  /** Whether a client of 2025 would lose something of what it has of the server in its own era. */
  const speaksOf2025 = (ctx: Context): boolean =>
    askable(ctx) || shared.supervisor.current?.capabilities.logging !== undefined;

  /** Whether a server of 2026 takes a client of 2025 too: the client's own connection is opened for that, and kept. */
  async function hasBothEras(ctx: Context): Promise<boolean> {
    if (Date.now() < modernOnlyUntil) return false;
    const view = withKey(peerKey(ctx), ctx);
    if (view === undefined) return false;
    try {
      await view.supervisor.get(ctx.signal, REQUEST_WAITS);
      return true;
    } catch (error) {
      ctx.signal.throwIfAborted();
      // One that has taken this client before is only away, and one that is starting only late.
      if (view.supervisor.opened > 0 || view.supervisor.state === 'connecting') throw error;
      modernOnlyUntil = Date.now() + MODERN_ONLY_MS;
      discard(view);
      log.debug('an upstream of 2026 does not speak 2025', { mount: name });
      return false;
    }
  }

  /** The one with a key, opened if there is room. */
  function withKey(key: string, ctx: Context): View | undefined {
    const known = [...owned].find((view) => view.key === key);
    if (known !== undefined) return touched(known, ctx);
    if (hasRoom()) return openOwn(key, ctx);
    log.warn('too many clients: one shares a connection, where the server cannot ask it', { mount: name });
    return undefined;
  }

  function touched(view: View, ctx: Context): View {
    view.usedAt = Date.now();
    view.ask = ctx.client?.ask ?? view.ask;
    return view;
  }

  const peerKey = (ctx: Context): string => `peer ${ctx.peer}`;

  /** Of clients that are not connected here: those of one principal that can do the same. */
  const lentKey = (ctx: Context): string => JSON.stringify(['lent', ctx.principal.id, capabilitiesOf(ctx)]);

  /** The view in which a client has work done that is not a call; undefined for the shared one. */
  function ownOf(ctx: Context): View | undefined {
    // Work without a client's request opens no connection; it may use one that the client has.
    if (ctx.client === undefined) return lasts(ctx) ? existing(peerKey(ctx)) : undefined;
    if (lasts(ctx)) return isProgram || askable(ctx) ? withKey(peerKey(ctx), ctx) : existing(peerKey(ctx));
    return isProgram && askable(ctx) ? withKey(lentKey(ctx), ctx) : undefined;
  }

  const existing = (key: string): View | undefined => [...owned].find((view) => view.key === key);

  async function borrow(view: View, exclusive: boolean, ctx: Context): Promise<Lease> {
    view.running++;
    touched(view, ctx);
    let released = false;
    const release = (reusable: boolean): void => {
      if (released) return;
      released = true;
      view.running--;
      view.usedAt = Date.now();
      if (exclusive && !reusable) discard(view);
    };
    try {
      return { link: await view.supervisor.get(ctx.signal, REQUEST_WAITS), own: true, release };
    } catch (error) {
      release(false);
      throw error;
    }
  }

  /** For a client that is not connected here: one that nobody else of its principal uses for a call meanwhile. */
  async function lend(ctx: Context): Promise<Lease> {
    const key = lentKey(ctx);
    // Late log messages of one call must not be taken for those of the next: who wants them gets a fresh connection.
    const wantsLogs = ctx.client?.logLevel !== undefined;
    const free = wantsLogs ? undefined : [...owned].find((view) => view.key === key && view.running === 0);
    if (free !== undefined) return borrow(free, true, ctx);
    if (!hasRoom())
      throw new ResourceError('limited', `Too many calls wait for the server behind "${name}"; try later`);
    const lease = await borrow(openOwn(wantsLogs ? `fresh ${crypto.randomUUID()}` : key, ctx), true, ctx);
    return wantsLogs ? { ...lease, release: () => lease.release(false) } : lease;
  }

  async function ofAll(ctx: Context): Promise<Lease> {
    shared.usedAt = Date.now();
    return { link: await shared.supervisor.get(ctx.signal, REQUEST_WAITS), own: false, release: () => {} };
  }

  async function of(ctx: Context): Promise<View> {
    if (await isOfSole(ctx)) return touched(shared, ctx);
    const own = (await keepsApart(ctx)) ? ownOf(ctx) : undefined;
    if (own !== undefined) return own;
    shared.usedAt = Date.now();
    return shared;
  }

  const watchedIn = (view: View, ...args: Parameters<Watching['list']>): Promise<AsyncDisposable> => {
    view.watched = true;
    return view.watching.list(...args);
  };

  /** Over the shared connection until the server is there: then it is known where this client has its own. */
  async function watchEarly(...args: Parameters<Watching['list']>): Promise<AsyncDisposable> {
    const [, onChange, ctx] = args;
    let held = watchedIn(shared, ...args);
    let ended = false;
    async function move(): Promise<void> {
      const view = await of(ctx);
      if (ended || view === shared) return;
      const before = held;
      held = watchedIn(view, ...args);
      await (await before)[Symbol.asyncDispose]();
      onChange();
    }
    const arrived = (): void => void move().catch((error: unknown) => log.debug('upstream', { mount: name, error }));
    early.add(arrived);
    await held;
    return {
      async [Symbol.asyncDispose]() {
        ended = true;
        early.delete(arrived);
        await (await held)[Symbol.asyncDispose]();
      },
    };
  }

  return {
    shared,
    of,
    async here(ctx) {
      if (verdict === undefined) await shared.supervisor.get(ctx.signal, listWaits);
      const view = await of(ctx);
      await view.supervisor.get(ctx.signal, listWaits);
    },
    async watchList(...args) {
      return verdict === undefined ? watchEarly(...args) : watchedIn(await of(args[2]), ...args);
    },
    async forCall(ctx) {
      if (await isOfSole(ctx)) return borrow(shared, false, ctx);
      if (!(await keepsApart(ctx))) return ofAll(ctx);
      if (lasts(ctx)) {
        const own = withKey(peerKey(ctx), ctx);
        return own === undefined ? ofAll(ctx) : borrow(own, false, ctx);
      }
      return askable(ctx) || ctx.client?.logLevel !== undefined ? lend(ctx) : ofAll(ctx);
    },
    get apart() {
      if (!isProgram || connections === 'shared') return false;
      return owned.size > 0 || (sole === undefined && verdict?.prior.kind !== 'modern');
    },
    all: () => [shared, ...owned],
    async close() {
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      clearInterval(sweep);
      const all = [...owned];
      owned.clear();
      await Promise.allSettled([shared.close(), ...all.map((view) => view.close())]);
    },
  };
}
