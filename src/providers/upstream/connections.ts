/**
 * Which connection serves whom. A server of 2026-07-28 has one: there every request says whose it is. A 2025-era server
 * knows one client a connection, so one that it may ask, or that works with its tools, gets a connection of its own, and
 * what the server sends on it can only be for that client. All others look at resources over one that is shared, and that
 * the server is told nobody can be asked on.
 */
import type { JSONRPCRequest } from '@modelcontextprotocol/client';
import { type ClientFeatures, type Context, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { type Data, type Link, openLink, type Verdict } from './link.ts';
import type { UpstreamOptions } from './options.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';

/** What comes over a connection by itself, with the connection. */
export interface ConnectionEvents {
  notified(link: Link, method: string, params: Data): void;
  /** @param link undefined while it is being opened; @param ask the client that it is opened for */
  asked(link: Link | undefined, ask: Ask, request: JSONRPCRequest, signal: AbortSignal): Promise<Data>;
  missed(link: Link): void;
  ended(link: Link): void;
  /** The shared connection is up. */
  up(link: Link): void;
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
  readonly shared: Supervisor;
  /** For lists and reads. */
  forLooking(ctx: Context): Promise<Link>;
  /** For tools and prompts. */
  forCall(ctx: Context): Promise<Lease>;
  /** Connections that are open. */
  readonly size: number;
  close(): Promise<void>;
}

export const DEFAULT_MAX_CONNECTIONS = 32;
export const DEFAULT_CONNECT_TIMEOUT_MS = 20_000;

/** A connection of a client that has not used it for so long is closed, in milliseconds. */
const IDLE_MS = 5 * 60_000;
const SWEEP_MS = 30_000;

interface Own {
  readonly key: string;
  readonly opening: Promise<Link>;
  link: Link | undefined;
  /** Calls that are under way on it. */
  running: number;
  usedAt: number;
  /** Asks the client on its latest request. */
  ask: Ask;
}

type Ask = ClientFeatures['ask'];

/** Whose a connection is. */
interface Owner {
  ask(): Ask;
  ended(link: Link): void;
}

export function createConnections(options: UpstreamOptions, events: ConnectionEvents): Connections {
  const { name, log = SILENT, maxConnections = DEFAULT_MAX_CONNECTIONS, connections = 'client' } = options;
  const timeoutMs = options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  let verdict: Verdict | undefined;
  const owned = new Set<Own>();
  const lifetime = new AbortController();
  const sweep = setInterval(expire, SWEEP_MS);
  sweep.unref();

  async function open(capabilities: Data, own: Owner, signal = lifetime.signal): Promise<Link> {
    let link: Link | undefined;
    try {
      const found = await openLink(
        options,
        capabilities,
        verdict,
        {
          notified: (method, params) => link && events.notified(link, method, params),
          asked: (request, signal) => events.asked(link, own.ask(), request, signal),
          missed: () => link && events.missed(link),
          ended() {
            if (link === undefined) return;
            own.ended(link);
            events.ended(link);
          },
        },
        { timeoutMs, log, signal },
      );
      link = found.link;
      verdict = found.verdict;
      return link;
    } catch (error) {
      // It may be another era by now that it speaks.
      verdict = undefined;
      throw error;
    }
  }

  const shared: Supervisor = createSupervisor({
    name,
    log,
    open: (signal) => open({}, { ask: () => undefined, ended: (link) => shared.ended(link) }, signal),
    up: (link, again) => {
      events.up(link);
      if (again) events.missed(link);
    },
    down: () => {},
  });

  function openOwn(key: string, ctx: Context): Own {
    const own: Own = {
      key,
      opening: open(capabilitiesOf(ctx), { ask: () => own.ask, ended: () => owned.delete(own) }),
      link: undefined,
      running: 0,
      usedAt: Date.now(),
      ask: ctx.client?.ask,
    };
    owned.add(own);
    own.opening.then(
      (link) => {
        own.link = link;
        if (closed) void link.close();
      },
      () => owned.delete(own),
    );
    return own;
  }

  let closed = false;

  function discard(own: Own): void {
    owned.delete(own);
    own.opening.then((link) => link.close()).catch(() => {});
  }

  function expire(): void {
    const before = Date.now() - IDLE_MS;
    for (const own of owned) if (own.running === 0 && own.usedAt < before) discard(own);
  }

  /** Room for one more, made by closing the one that was unused for longest. */
  function hasRoom(): boolean {
    if (owned.size < maxConnections) return true;
    const idle = [...owned].filter((own) => own.running === 0 && own.link !== undefined);
    const oldest = idle.reduce<Own | undefined>((a, b) => (a === undefined || b.usedAt < a.usedAt ? b : a), undefined);
    if (oldest === undefined) return false;
    discard(oldest);
    return true;
  }

  /** Whether each client gets its own; known once the server has been reached. */
  async function keepsApart(ctx: Context): Promise<boolean> {
    if (connections === 'shared') return false;
    if (verdict === undefined) await shared.get(ctx.signal);
    return verdict?.prior.kind === 'legacy';
  }

  /** The connection of a client that has one of its own for as long as it is connected itself. */
  function ofPeer(ctx: Context, create: boolean): Own | undefined {
    const key = `peer ${ctx.peer}`;
    const known = [...owned].find((own) => own.key === key && own.link?.ended !== true);
    if (known !== undefined || !create) return known;
    if (hasRoom()) return openOwn(key, ctx);
    log.warn('too many clients: one shares a connection, where the server cannot ask it', { mount: name });
    return undefined;
  }

  function borrow(own: Own, exclusive: boolean): Promise<Lease> {
    own.running++;
    own.usedAt = Date.now();
    let released = false;
    const release = (reusable: boolean): void => {
      if (released) return;
      released = true;
      own.running--;
      own.usedAt = Date.now();
      if (exclusive && !reusable) discard(own);
    };
    return own.opening.then(
      (link) => ({ link, own: true, release }),
      (error: unknown) => {
        release(false);
        throw error;
      },
    );
  }

  /** For a client that has no connection here of its own: one that nobody else of its principal uses meanwhile. */
  function lend(ctx: Context): Promise<Lease> | undefined {
    const key = JSON.stringify(['lent', ctx.principal.id, capabilitiesOf(ctx)]);
    // Late log messages of one call must not be taken for those of the next: who wants them gets a fresh connection.
    const wantsLogs = ctx.client?.logLevel !== undefined;
    const free = wantsLogs
      ? undefined
      : [...owned].find((own) => own.key === key && own.running === 0 && own.link?.ended === false);
    if (free !== undefined) return borrow(free, true);
    if (!hasRoom())
      throw new ResourceError('limited', `Too many calls wait for the server behind "${name}"; try later`);
    const lease = borrow(openOwn(wantsLogs ? `fresh ${crypto.randomUUID()}` : key, ctx), true);
    return wantsLogs ? lease.then((each) => ({ ...each, release: () => each.release(false) })) : lease;
  }

  const ofAll = async (ctx: Context): Promise<Lease> => ({
    link: await shared.get(ctx.signal),
    own: false,
    release: () => {},
  });

  return {
    shared,
    async forLooking(ctx) {
      if (await keepsApart(ctx)) {
        const own = lasts(ctx) ? ofPeer(ctx, askable(ctx)) : undefined;
        if (own !== undefined) {
          own.usedAt = Date.now();
          own.ask = ctx.client?.ask ?? own.ask;
          return own.opening;
        }
      }
      return shared.get(ctx.signal);
    },
    async forCall(ctx) {
      if (!(await keepsApart(ctx))) return ofAll(ctx);
      if (lasts(ctx)) {
        const own = ofPeer(ctx, true);
        if (own !== undefined) own.ask = ctx.client?.ask ?? own.ask;
        return own === undefined ? ofAll(ctx) : borrow(own, false);
      }
      return askable(ctx) || ctx.client?.logLevel !== undefined ? (lend(ctx) ?? ofAll(ctx)) : ofAll(ctx);
    },
    get size() {
      return owned.size + (shared.current === undefined ? 0 : 1);
    },
    async close() {
      closed = true;
      lifetime.abort(new ResourceError('unavailable', 'The server is shutting down'));
      clearInterval(sweep);
      const all = [...owned];
      owned.clear();
      await Promise.allSettled([shared.close(), ...all.map(async (own) => (await own.opening).close())]);
    },
  };
}

/** Whether the client is connected here for longer than this request. */
const lasts = (ctx: Context): boolean => ctx.peer !== ctx.principal.id;

export const askable = ({ client }: Context): boolean =>
  client !== undefined && (client.sampling || client.elicitation || client.roots);

/** What a client declared, as far as it can be kept for it. */
export function capabilitiesOf({ client }: Context): Data {
  const { sampling, elicitation, roots, extensions, experimental } = client?.declared ?? {};
  return {
    ...(sampling !== undefined && { sampling }),
    ...(elicitation !== undefined && { elicitation }),
    // Changes of its roots are not told on.
    ...(roots !== undefined && { roots: {} }),
    ...(extensions !== undefined && { extensions }),
    ...(experimental !== undefined && { experimental }),
  };
}
