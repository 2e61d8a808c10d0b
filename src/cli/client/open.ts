/** `vitrine open`: serves the explorer of any server to the user who starts it, until the user ends it. */
import { once } from 'node:events';
import { slug } from '../../config/mount-names.ts';
import { closeMounts } from '../../config/mounts.ts';
import type { Secrets } from '../../config/secrets.ts';
import type { ConfiguredMount } from '../../config/upstream-mounts.ts';
import type { Log } from '../../core/context.ts';
import { cleanText } from '../../core/text/clean-text.ts';
import type { Engine } from '../../engine/index.ts';
import { upstream } from '../../providers/upstream/index.ts';
import { createDoor } from '../../serving/http/door.ts';
import { servePersonally } from '../../serving/http/index.ts';
import { hasDisplay, openInBrowser } from '../browser.ts';
import { type Faults, rememberFaults } from '../check-upstream.ts';
import { CommandFailure } from '../errors.ts';
import { engineOf } from '../serve.ts';
import { openSources, type Sources } from '../sources.ts';
import { createDoctorPage } from './doctor-page.ts';
import { withOutput } from './ending.ts';
import { EXIT_DENIED, EXIT_OK, EXIT_UNAVAILABLE } from './exit-codes.ts';
import { countOf, numberOf } from './printing/numbers.ts';
import { type Output, safe } from './printing/output.ts';
import { type NamedTarget, openTarget, type TargetFlags } from './reaching/target.ts';

const MAX_PORT = 65_535;

/** The most characters of the server's own name. */
const MAX_NAME_LENGTH = 128;

export interface OpenFlags extends TargetFlags {
  /** False to start no browser. */
  readonly browser?: boolean;
  readonly port?: string;
  /** Seconds for connecting, and for each response. */
  readonly timeout?: string;
  /** Passes on the program's standard error. */
  readonly serverLog?: boolean;
}

/**
 * Serves the explorer at a one-time address of this machine, and opens it in the browser.
 * @throws UsageError, ConfigError, CommandFailure for a server that cannot be reached
 */
export const open = (typed: string, flags: OpenFlags, secrets: Secrets): Promise<void> =>
  withOutput({}, secrets, async (output, signal) => {
    const port = countOf(flags.port, '--port', 0, 0, MAX_PORT);
    const target = await openTarget(typed, flags, secrets);
    if (target.note !== undefined) output.note(target.note);
    const faults = rememberFaults();
    const log = flags.serverLog === true ? passingOn(faults.log, output) : faults.log;
    output.progress(`connecting to ${target.label}`);
    const mounted = await sourcesOf(target, flags, secrets, log);
    const sources = await introduced(mounted, target, faults, signal).catch(async (error: unknown) => {
      await closeMounts(mounted.mounts);
      throw error;
    });
    const { engine, telemetry } = await engineOf(
      sources,
      { name: sources.config.server?.name ?? target.label },
      { stdio: true, worker: undefined, bus: undefined, keys: undefined },
      log,
      secrets,
    );
    try {
      output.progress();
      await serve(engine, target, { output, port, log, signal, browser: flags.browser !== false });
    } finally {
      await engine.close();
      await closeMounts(sources.mounts);
      await telemetry?.close();
    }
    return EXIT_OK;
  });

/** Mounts a path as `serve` does, and any other server as the only mount, under its own URIs. */
async function sourcesOf(target: NamedTarget, flags: OpenFlags, secrets: Secrets, log: Log): Promise<Sources> {
  const { source, server, label, kind } = target;
  if (source !== undefined) return openSources([source], flags, { log, secrets });
  const name = (kind === 'url' || kind === 'host' ? slug(label.replace(/^https?:\/\//, '')) : '') || 'server';
  const timeoutMs =
    flags.timeout === undefined ? undefined : numberOf(flags.timeout, '--timeout', 0.001, 86_400) * 1_000;
  const up = upstream({
    name,
    target: 'url' in server ? { url: String(server.url), headers: server.headers, auth: server.authProvider } : server,
    connectTimeoutMs: timeoutMs,
    timeoutMs,
    log,
  });
  const mount: ConfiguredMount = {
    name,
    prefix: 'none',
    provider: up.provider,
    server: up.server,
    health: () => up.health(),
    upstream: { up, target: label, start: 'eager' },
  };
  return {
    mounts: [mount],
    promptFolders: [],
    // The explorer itself shows forms and a tree, so it offers only those of Vitrine's tools that read: more would hide the server's.
    config: { tools: { offer: 'read' } },
    files: [],
    args: [],
    ignored: undefined,
  };
}

/**
 * Waits until the only server is connected, and returns the sources with its title. Returns the sources of a path unchanged.
 * @throws CommandFailure if the server cannot be reached
 */
async function introduced(
  sources: Sources,
  { source, label }: NamedTarget,
  faults: Faults,
  signal: AbortSignal,
): Promise<Sources> {
  if (source !== undefined) return sources;
  const [mount] = sources.mounts;
  const ended = once(signal, 'abort').then(() => signal.throwIfAborted());
  ended.catch(() => {});
  signal.throwIfAborted();
  if (mount?.upstream === undefined) return sources;
  const { up } = mount.upstream;
  if ((await Promise.race([up.ready(), ended])) === true) {
    const { title, server, version } = up.health();
    const names = [server, version].flatMap((each) => (each === undefined ? [] : [cleanText(each, MAX_NAME_LENGTH)]));
    const shown = { title: title ?? names[0], description: [label, ...names].join(' · ') };
    return { ...sources, config: { ...sources.config, server: shown } };
  }
  const why = faults.of(mount.name) ?? up.health().lastError ?? 'it did not answer in time';
  if (/HTTP status 401\b/.test(why)) throw new CommandFailure(`${label}: ${SIGN_IN}`, EXIT_DENIED);
  throw new CommandFailure(`${label}: ${safe(why)}`, /HTTP status 403\b/.test(why) ? EXIT_DENIED : EXIT_UNAVAILABLE);
}

const SIGN_IN =
  'it asks for a sign-in; send a token with --bearer, or name an entry with auth: { type: oauth } and run vitrine authorize';

interface Serving {
  readonly output: Output;
  readonly port: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly browser: boolean;
}

/** Serves until the signal is aborted. */
async function serve(
  engine: Engine,
  { label, server }: NamedTarget,
  { output, port, log, signal, browser }: Serving,
): Promise<void> {
  const door = createDoor();
  const doctor = createDoctorPage(server, label);
  const serving = await servePersonally(engine, { port, door, pages: [doctor.page], card: false, log });
  try {
    const address = new URL(door.entry, serving.url).href;
    await output.line(
      `${label} in a browser, for you alone:\n\n${address}\n\nThe address is good once. Ctrl+C ends it.`,
    );
    if (browser && hasDisplay()) {
      await openInBrowser(address, 'open the address yourself').catch((error: unknown) => output.note(String(error)));
    }
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await Promise.all([serving.close(), doctor.close()]);
  }
}

/** Passes on the standard error of programs, in addition to the normal log. */
const passingOn = (log: Log, output: Output): Log => ({
  ...log,
  debug(message, facts) {
    log.debug(message, facts);
    if (typeof facts?.line === 'string') output.note(facts.line);
  },
});
