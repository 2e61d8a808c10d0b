/** `vitrine serve`: serves sources over stdio or HTTP until it is ended. */
import { closeMounts } from '../config/mounts.ts';
import type { Config } from '../config/schema.ts';
import type { Secrets } from '../config/secrets.ts';
import { answersOf } from '../configured/answers.ts';
import { type EngineFlags, engineOptions } from '../configured/engine-options.ts';
import { rankedIndexOf } from '../configured/ranked-index.ts';
import { closeAll } from '../core/close-all.ts';
import type { ClientFeatures, Log } from '../core/context.ts';
import { defined } from '../core/defined.ts';
import { ResourceError } from '../core/errors.ts';
import { isLoopback } from '../core/hosts.ts';
import { ANY_SCHEME, publishUri } from '../core/mounts.ts';
import { stripControls } from '../core/text/scrub.ts';
import { inTime } from '../core/waiting/in-time.ts';
import { createEngine, type Engine, VERSION } from '../engine/index.ts';
import type { RunningTelemetry } from '../layers/telemetry/index.ts';
import type { HttpOptions } from '../serving/http/index.ts';
import type { MetricsOptions } from '../serving/http/probes.ts';
import type { TlsOptions } from '../serving/http/tls.ts';
import { serveStdio } from '../serving/stdio/index.ts';
import { type Address, addressOf } from './address.ts';
import { UsageError } from './errors.ts';
import { addedWith, addOverHttp } from './hosts.ts';
import { createLog } from './log.ts';
import type { LogLevel } from './log-levels.ts';
import { opennessOf, withAdvice } from './openness.ts';
import { followSources, type Served } from './reloading.ts';
import { fileOfWorker, joinReplicas, type Replica, type WorkerFlags, workerOf } from './replica.ts';
import { openSources, type SourceFlags, type Sources } from './sources.ts';
import { metricsOf, telemetryOf } from './telemetry.ts';
import type { Terminal } from './terminal.ts';

/** The options of `vitrine serve`. */
export interface ServeFlags extends SourceFlags, EngineFlags, WorkerFlags {
  readonly http?: string | true;
  readonly port?: string;
  readonly allowRemote?: boolean;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly explorer?: 'on' | 'off';
  readonly logLevel: LogLevel;
}

/** The most milliseconds that serving waits for upstreams to connect, so that their features are known when it begins. */
const UPSTREAMS_READY_MS = 5_000;

/** Milliseconds that running answers still have when serving ends. */
const ANSWERS_MS = 500;

/** The interval in milliseconds of a timer that does nothing but keep the process running. */
const HOLD_MS = 2 ** 30;

/**
 * Serves until a signal or the host ends it.
 * @param secrets takes the secrets of the configuration, so that none of them is printed or logged
 * @param short whether the word `serve` was left out; at a terminal, HTTP is then the default
 */
export async function serve(
  paths: readonly string[],
  flags: ServeFlags,
  secrets: Secrets,
  terminal: Terminal,
  short = false,
): Promise<void> {
  const address = addressOf(flags, short && terminal.input.isTTY === true);
  const log = createLog(flags.logLevel, secrets, terminal.errors);
  const role = await workerOf(flags, address, log, terminal);
  if (role === 'parent') return;
  try {
    await serveHere(paths, flags, role, { log, secrets, terminal });
  } finally {
    if (role.worker !== undefined) (await import('./workers.ts')).leaveParent();
  }
}

/** The log, the secrets and the terminal of the command. */
interface CommandContext {
  readonly log: Log;
  readonly secrets: Secrets;
  readonly terminal: Terminal;
}

/** Serves in this process, which is a worker or the only one. */
async function serveHere(
  paths: readonly string[],
  flags: ServeFlags,
  { worker, address }: Pick<Replica, 'worker'> & { readonly address: Address | undefined },
  { log, secrets, terminal }: CommandContext,
): Promise<void> {
  // Opening the sources starts upstreams, so signals are handled from here on: they have to end the upstreams.
  const stopping = terminal.takeSignals(log);
  const host = address === undefined ? soleHost() : undefined;
  const opening = { log, secrets, sole: host?.features };
  const opened = openSources(paths, flags, opening);
  const sources = await Promise.race([opened, stopping.signalled]);
  if (sources === 'stopped') return terminal.exit();
  if (sources.ignored !== undefined)
    log.warn('keys of mcpServers that mean nothing here are left out', { servers: sources.ignored });
  const shared = await joinReplicas(sources, flags, address, worker, log);
  const { engine, telemetry } = await engineOf(sources, flags, shared, log, secrets).catch(async (error: unknown) => {
    await shared.bus?.close();
    throw error;
  });
  let sent = true;
  let served: Served | undefined;
  // Closing may wait for something that does not keep the process running. So this timer keeps it running until everything is
  // closed.
  const hold = setInterval(() => {}, HOLD_MS);
  try {
    const stopped = stopping.signalled;
    // Over stdio, serving waits for upstreams only after the host has introduced itself, because they are started for this host.
    if (host === undefined && (await Promise.race([upstreamsReady(sources, log), stopped])) === 'stopped') return;
    const reopen = (before: Sources): Promise<Sources> => openSources(paths, flags, { ...opening, before });
    const followed = await followSources(sources, { engine, reopen, hide: secrets.hide, log, terminal });
    served = followed;
    const metrics = metricsOf(sources.config.telemetry, telemetry);
    const args = [...sources.args, ...engineArgs(flags)];
    const shown = secrets.hide(title(engine, sources));
    const parts: ServingParts = {
      terminal,
      shown,
      args,
      log,
      stopped,
      metrics,
      end: () => endUpstreams(followed.current),
    };
    if (host !== undefined) await overStdio(engine, sources, host, parts);
    else if (address !== undefined) await overHttp(engine, sources, flags, address, parts);
  } finally {
    stopping.begin();
    await closeAll(
      () => served?.close(),
      () => endUpstreams(served?.current ?? sources),
      () => engine.close(),
      () => shared.bus?.close(),
      async () => {
        sent = (await telemetry?.close()) ?? true;
      },
      () => clearInterval(hold),
    );
  }
  // An export to a collector that does not answer would keep the process running, so the process exits here.
  if (!sent) terminal.exit();
}

/** Returns the engine options of the command line as arguments, for the printed command that serves the same. */
const engineArgs = ({ tools, icons }: EngineFlags): readonly string[] => [
  ...(tools === undefined ? [] : ['--tools', tools]),
  ...(icons === undefined ? [] : ['--icons', icons]),
];

/** An engine with its telemetry. */
export interface OpenEngine {
  readonly engine: Engine;
  /** To be closed after the engine, which reports to it until the end. */
  readonly telemetry: RunningTelemetry | undefined;
}

/**
 * Makes the engine. If that fails, it closes the mounts, because their upstreams are started already.
 * @param stdio whether the only client is the host at standard input and output
 */
export async function engineOf(
  sources: Sources,
  flags: EngineFlags,
  { stdio, worker, bus, keys }: Replica,
  log: Log,
  secrets: Secrets,
): Promise<OpenEngine> {
  const { audit } = sources.config;
  let telemetry: RunningTelemetry | undefined;
  try {
    telemetry = await telemetryOf(sources.config.telemetry, log);
    const index = await rankedIndexOf(sources, log, worker);
    const configured = engineOptions(sources, sources.files.length > 0, flags);
    // Over stdio the only host may use everything, so it does not share the limits of one anonymous caller.
    const limits = stdio ? { ...configured.limits, anonymousIsOne: false } : configured.limits;
    const hide = secrets.some ? secrets.hide : undefined;
    const answers = answersOf(sources.config, log, !stdio);
    const options = { ...configured, limits, hide, index, telemetry: telemetry?.telemetry, bus, keys, answers };
    return {
      engine: createEngine({ ...options, audit: audit && { ...audit, file: fileOfWorker(audit.file, worker), log } }),
      telemetry,
    };
  } catch (error) {
    await Promise.all([closeMounts(sources.mounts), telemetry?.close()]);
    throw error;
  }
}

/** Waits a while for upstreams that connect at once. Serving begins without those that do not answer in time. */
async function upstreamsReady({ mounts }: Sources, log: Log): Promise<void> {
  const eager = mounts.flatMap(({ name, upstream }) =>
    upstream?.start === 'eager' ? [{ name, up: upstream.up }] : [],
  );
  await Promise.all(
    eager.map(async ({ name, up }) => {
      if (await up.ready(UPSTREAMS_READY_MS)) return;
      log.warn('serving begins without an upstream', {
        mount: name,
        reason: up.health().lastError ?? 'it is still starting',
      });
    }),
  );
}

/** Serving over stdio and serving over HTTP both need these. */
interface ServingParts {
  readonly terminal: Terminal;
  /** The list of mounts, to be printed. */
  readonly shown: string;
  /** The arguments that serve the same again. */
  readonly args: readonly string[];
  readonly log: Log;
  /** Resolves when a signal asks the server to end. */
  readonly stopped: Promise<'stopped'>;
  /** The metrics for Prometheus; undefined if they are turned off. */
  readonly metrics: MetricsOptions | undefined;
  /** Ends the upstreams. */
  end(): Promise<unknown>;
}

/** The host at the other end of standard input and output. */
interface SoleHost {
  /** Resolves when the host has introduced itself. */
  readonly features: Promise<ClientFeatures>;
  introduce(features: ClientFeatures): void;
}

function soleHost(): SoleHost {
  let introduce: SoleHost['introduce'] = () => {};
  const features = new Promise<ClientFeatures>((resolve) => {
    introduce = resolve;
  });
  return { features, introduce };
}

async function overStdio(
  engine: Engine,
  sources: Sources,
  host: SoleHost,
  { terminal, shown, args, log, stopped, metrics, end }: ServingParts,
): Promise<void> {
  if (metrics !== undefined) log.warn('there are no metrics for Prometheus over stdio; add --http');
  const serving = serveStdio(engine, {
    log,
    input: terminal.input,
    output: terminal.output,
    introduced(features) {
      host.introduce(features);
      return upstreamsReady(sources, log);
    },
  });
  if (terminal.input.isTTY) {
    terminal.errors.write(
      `${shown}\n\nVitrine waits for a host on standard input. To let a host start it:\n\n${addedWith(args)}\n\n` +
        'To connect to it by hand, serve over HTTP: add --http. Ctrl+C stops it.\n',
    );
  }
  await Promise.race([serving.closed, stopped]);
  await endAll(serving, end);
}

async function overHttp(
  engine: Engine,
  sources: Sources,
  flags: ServeFlags,
  address: Address,
  { terminal, shown, log, stopped, metrics, end }: ServingParts,
): Promise<void> {
  const { server = {}, limits = {}, auth } = sources.config;
  const allowRemote = flags.allowRemote ?? server.allowRemote;
  const open = opennessOf(auth);
  const { explorer = 'on' } = sources.config;
  const explored = (flags.explorer ?? explorer) !== 'off';
  // The module is loaded only for HTTP: over stdio, each module that is loaded delays the first answer.
  const { serveHttp } = await import('../serving/http/index.ts');
  const { host, port, more = 0 } = address;
  const options: Omit<HttpOptions, 'port'> = {
    host,
    allowRemote,
    auth,
    card: server.card === 'off' ? false : server.card === 'on' ? {} : server.card,
    tls: tlsOf(flags, server),
    explorer: explored && (typeof explorer === 'object' ? { signIn: explorer } : true),
    metrics,
    allowedHosts: [...(server.allowHosts ?? []), ...(flags.allowHost ?? [])],
    allowedOrigins: [...(server.allowOrigins ?? []), ...(flags.allowOrigin ?? [])],
    log,
    limits: defined({
      maxRequestBytes: limits.maxRequestBytes,
      maxRequestDepth: limits.maxRequestDepth,
      maxSessions: limits.maxSessions,
      maxStreams: limits.maxStreams,
      idleMs: milliseconds(limits.sessionIdleSeconds),
      maxConnections: limits.maxConnections,
      maxConnectionsPerAddress: limits.maxConnectionsPerAddress,
      headersMs: milliseconds(limits.headersSeconds),
      requestMs: milliseconds(limits.requestSeconds),
      keepAliveMs: milliseconds(limits.keepAliveSeconds),
      unreadMs: milliseconds(limits.unreadSeconds),
      maxUnreadBytes: limits.maxUnreadBytes,
    }),
  };
  const serving = await atFreePort(port, more, (free) => serveHttp(engine, { ...options, port: free })).catch(
    (error: unknown) => {
      throw withAdvice(error, address, allowRemote === true ? undefined : open);
    },
  );
  const exposed =
    isLoopback(address.host) || open === undefined
      ? ''
      : `${open.why}: everybody who reaches this address can read ${open.readable}.\n\n`;
  terminal.output.write(
    `${shown}\n\nEndpoint: ${serving.url}\n${explored ? `In a browser: ${new URL('/', serving.url).href}\n` : ''}\nAdd it to a host:\n\n${addOverHttp(serving.url)}\n\n${exposed}Ctrl+C stops it.\n`,
  );
  await stopped;
  await endAll(serving, end);
}

/** Serves at the first free port of `port` to `port + more`. @throws the error of the first port if none is free */
async function atFreePort<T>(port: number, more: number, serveAt: (port: number) => Promise<T>): Promise<T> {
  let first: unknown;
  for (let free = port; free <= port + more; free++) {
    try {
      return await serveAt(free);
    } catch (error) {
      first ??= error;
      if (!(error instanceof ResourceError) || error.code !== 'unavailable') break;
    }
  }
  throw first;
}

/** Ends serving, and then the upstreams, as soon as all running answers are sent or their time is over. */
async function endAll(serving: { close(): Promise<void> }, end: ServingParts['end']): Promise<void> {
  const closed = serving.close();
  await inTime(closed, ANSWERS_MS);
  await Promise.all([closed, end()]);
}

const endUpstreams = ({ mounts }: Sources): Promise<unknown> =>
  Promise.allSettled(mounts.map(({ upstream }) => upstream?.up.close()));

const milliseconds = (seconds: number | undefined): number | undefined =>
  seconds === undefined ? undefined : Math.ceil(seconds * 1_000);

/** @throws UsageError for a certificate without its key, or a key without its certificate */
function tlsOf({ tlsCert, tlsKey }: ServeFlags, { tls }: NonNullable<Config['server']>): TlsOptions | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return tls;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new UsageError('TLS takes a certificate and its key: --tls-cert <file> --tls-key <file>');
  return { ...tls, cert: tlsCert, key: tlsKey };
}

function title(engine: Engine, { mounts }: Sources): string {
  const width = Math.max(...mounts.map((mount) => mount.name.length));
  const rows = mounts.map((mount) => {
    const [scheme = ''] = mount.provider.features.schemes;
    const begin = scheme === ANY_SCHEME ? publishUri(mount, '…') : publishUri(mount, `${scheme}:///`);
    const from = mount.upstream === undefined ? '' : `  ${mount.upstream.target}`;
    return stripControls(`  ${mount.name.padEnd(width)}  ${begin}${from}`);
  });
  return `Vitrine ${VERSION} serves "${engine.identity.name}":\n\n${rows.join('\n')}`;
}
