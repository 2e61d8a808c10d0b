/** `vitrine serve`. */
import { ResourceError } from '../core/errors.ts';
import { publishUri } from '../core/mounts.ts';
import { isLoopback } from '../serving/guard.ts';
import { serveStdio } from '../serving/stdio.ts';
import { createVitrine, VERSION, type Vitrine } from '../vitrine.ts';
import { type Address, parseAddress } from './address.ts';
import { UsageError } from './errors.ts';
import { httpSnippets, stdioSnippets } from './hosts.ts';
import { createLog, type LogLevel } from './log.ts';
import { defined, engineOptions, openSources, type SourceFlags, type Sources } from './sources.ts';

export interface ServeFlags extends SourceFlags {
  readonly http?: string | true;
  readonly name?: string;
  readonly allowRemote?: boolean;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  readonly logLevel: LogLevel;
}

export async function serve(paths: readonly string[], flags: ServeFlags): Promise<void> {
  const address = flags.http === undefined ? undefined : parseAddress(flags.http);
  const sources = await openSources(paths, flags);
  const vitrine = createVitrine(engineOptions(sources, flags.name));
  try {
    if (address === undefined) await overStdio(vitrine, sources, flags);
    else await overHttp(vitrine, sources, flags, address);
  } finally {
    await vitrine.close();
  }
}

async function overStdio(vitrine: Vitrine, sources: Sources, flags: ServeFlags): Promise<void> {
  const serving = serveStdio(vitrine, { log: createLog(flags.logLevel) });
  if (process.stdin.isTTY) {
    process.stderr.write(
      `${title(vitrine, sources)}\n\nIt waits for a host on standard input. To have one start it:\n\n${stdioSnippets(vitrine.identity.name, sources.args)}\n\n` +
        'To connect to it by hand, serve over HTTP: add --http. Ctrl+C stops it.\n',
    );
  }
  await Promise.race([serving.closed, stopSignal()]);
  await serving.close();
}

async function overHttp(vitrine: Vitrine, sources: Sources, flags: ServeFlags, address: Address): Promise<void> {
  const { server = {}, limits = {} } = sources.config;
  // Loaded when it is wanted: a host that starts the server over stdio waits for every module.
  const { serveHttp } = await import('../serving/http.ts');
  const serving = await serveHttp(vitrine, {
    ...address,
    allowRemote: flags.allowRemote ?? server.allowRemote,
    allowedHosts: [...(server.allowHosts ?? []), ...(flags.allowHost ?? [])],
    allowedOrigins: [...(server.allowOrigins ?? []), ...(flags.allowOrigin ?? [])],
    log: createLog(flags.logLevel),
    limits: defined({
      maxRequestBytes: limits.maxRequestBytes,
      maxSessions: limits.maxSessions,
      maxStreams: limits.maxStreams,
      idleMs: limits.sessionIdleSeconds === undefined ? undefined : limits.sessionIdleSeconds * 1_000,
    }),
  }).catch((error: unknown) => {
    throw wayOut(error, address);
  });
  const exposed = isLoopback(address.host)
    ? ''
    : 'Everybody who reaches this machine can read what is served: there is no authorization.\n\n';
  process.stdout.write(
    `${title(vitrine, sources)}\n\nEndpoint: ${serving.url}\n\nPaste into a host:\n\n${httpSnippets(vitrine.identity.name, serving.url)}\n\n${exposed}Ctrl+C stops it.\n`,
  );
  await stopSignal();
  await serving.close();
}

function wayOut(error: unknown, { host, port }: Address): unknown {
  if (!(error instanceof ResourceError)) return error;
  if (error.code === 'unavailable') {
    return new UsageError(
      `${error.message}; stop what listens there, or take another one, as in --http ${port === 65_535 ? port - 1 : port + 1}`,
    );
  }
  return new UsageError(
    `${error.message}; leave out "${host}:", or say --allow-remote if everybody who reaches this machine may read what is served`,
  );
}

function title(vitrine: Vitrine, { mounts }: Sources): string {
  const width = Math.max(...mounts.map((mount) => mount.name.length));
  const rows = mounts.map((mount) => {
    const scheme = mount.provider.features.schemes[0] ?? '';
    return `  ${mount.name.padEnd(width)}  ${publishUri(mount, `${scheme}:///`)}`;
  });
  return `Vitrine ${VERSION} serves "${vitrine.identity.name}":\n\n${rows.join('\n')}`;
}

/** Resolves on the first SIGINT or SIGTERM; the second one ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((done) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
      stopping = true;
      done();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
