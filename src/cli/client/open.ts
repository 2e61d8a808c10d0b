/** `vitrine open`: the explorer of any server, for the one person who starts it, until that person ends it. */
import { once } from 'node:events';
import { slug } from '../../config/mount-names.ts';
import { closeMounts } from '../../config/mounts.ts';
import type { Secrets } from '../../config/secrets.ts';
import type { ConfiguredMount } from '../../config/upstream-mounts.ts';
import type { Log } from '../../core/context.ts';
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
import { numberOf } from './printing/numbers.ts';
import { type Output, safe } from './printing/output.ts';
import { type NamedTarget, openTarget, type TargetFlags } from './reaching/target.ts';

export interface OpenFlags extends TargetFlags {
  /** False where no browser is to be started. */
  readonly browser?: boolean;
  readonly port?: string;
  /** Seconds for connecting, and for each answer. */
  readonly timeout?: string;
  /** Passes on what a program writes to standard error. */
  readonly serverLog?: boolean;
}

/**
 * Serves the explorer at an address of this machine that is good once, and opens it in the browser.
 * @throws UsageError, ConfigError, CommandFailure for a server that is not reached
 */
export const open = (typed: string, flags: OpenFlags, secrets: Secrets): Promise<void> =>
  withOutput({}, secrets, async (output, signal) => {
    const port = flags.port === undefined ? 0 : numberOf(flags.port, '--port', 0, 65_535);
    const target = await openTarget(typed, flags, secrets);
    if (target.note !== undefined) output.note(target.note);
    const faults = rememberFaults();
    const log = flags.serverLog === true ? passingOn(faults.log, output) : faults.log;
    output.progress(`connecting to ${target.label}`);
    const sources = await sourcesOf(target, flags, secrets, log);
    const { vitrine, telemetry } = await engineOf(
      sources,
      { name: sources.config.server?.name ?? target.label },
      { stdio: true, worker: undefined, bus: undefined, keys: undefined },
      log,
      secrets,
    );
    try {
      await reached(sources, target, faults, signal);
      output.progress();
      await serve(vitrine, target, { output, port, log, signal, browser: flags.browser !== false });
    } finally {
      await vitrine.close();
      await closeMounts(sources.mounts);
      await telemetry?.close();
    }
    return EXIT_OK;
  });

/** Mounts a path as `serve` does, and any other server alone, under its own URIs. */
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
    config: {},
    files: [],
    args: [],
    ignored: undefined,
  };
}

/** @throws CommandFailure for the only server, when it is not there */
async function reached(
  { mounts }: Sources,
  { source, label }: NamedTarget,
  faults: Faults,
  signal: AbortSignal,
): Promise<void> {
  if (source !== undefined) return;
  const [mount] = mounts;
  const ended = once(signal, 'abort').then(() => signal.throwIfAborted());
  ended.catch(() => {});
  if (signal.aborted || mount?.upstream === undefined) return signal.throwIfAborted();
  if ((await Promise.race([mount.upstream.up.ready(), ended])) === true) return;
  const why = faults.of(mount.name) ?? mount.upstream.up.health().lastError ?? 'it did not answer in time';
  if (/HTTP status 401\b/.test(why)) throw new CommandFailure(`${label}: ${SIGN_IN}`, EXIT_DENIED);
  throw new CommandFailure(`${label}: ${safe(why)}`, /HTTP status 403\b/.test(why) ? EXIT_DENIED : EXIT_UNAVAILABLE);
}

const SIGN_IN =
  'it asks for a sign-in; send a token with --bearer, or name an entry with auth: { type: oauth } that vitrine authorize has let in';

interface Serving {
  readonly output: Output;
  readonly port: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly browser: boolean;
}

/** Resolves when the signal is aborted. */
async function serve(
  vitrine: Engine,
  { label, server }: NamedTarget,
  { output, port, log, signal, browser }: Serving,
): Promise<void> {
  const door = createDoor();
  const doctor = createDoctorPage(server, label);
  const serving = await servePersonally(vitrine, { port, door, pages: [doctor.page], card: false, log });
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

/** Shows what programs write to standard error, beside what is remembered of it. */
const passingOn = (log: Log, output: Output): Log => ({
  ...log,
  debug(message, facts) {
    log.debug(message, facts);
    if (typeof facts?.line === 'string') output.note(facts.line);
  },
});
