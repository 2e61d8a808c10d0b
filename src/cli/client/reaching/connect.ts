/**
 * Runs the commands for any server: connects to the server that the first argument names, or starts it, and does the work.
 * Everything ends with the work, after an error, on a signal, and when the reader of the output is gone.
 */
import { createResourceClient, type ResourceClient } from '../../../client/client.ts';
import type { ServerFacts } from '../../../client/link.ts';
import { connectResourceClient, type ServerTarget } from '../../../client/node/index.ts';
import { connected, lineConnect } from '../../../client/node/stdio.ts';
import type { Secrets } from '../../../config/secrets.ts';
import { hereTransport } from '../../../connection/node/here.ts';
import { VERSION } from '../../../core/version.ts';
import { type Abilities, abilitiesFor } from '../answers.ts';
import { withOutput } from '../ending.ts';
import { failureOf } from '../failures.ts';
import { numberOf } from '../printing/numbers.ts';
import { type Output, type OutputFlags, safeLines } from '../printing/output.ts';
import type { Here } from './serve-here.ts';
import { type NamedTarget, openTarget, type TargetFlags } from './target.ts';

/** The options of all commands for servers. */
export interface ServerFlags extends TargetFlags, OutputFlags {
  /** Seconds for connecting, and for each answer. Default 60; 300 until the first answer of a program. */
  readonly timeout?: string;
  /** Passes on the program's error output. */
  readonly serverLog?: boolean;
  /** Folders that are shown to the server as roots. */
  readonly root?: readonly string[];
}

/** The connected client, the output and the settings that the work of a command gets. */
export interface Session {
  readonly resources: ResourceClient;
  readonly facts: ServerFacts;
  readonly output: Output;
  /** Aborted on SIGINT, SIGTERM and SIGHUP, and when the reader of the output is gone. Hand it to every call. */
  readonly signal: AbortSignal;
  /** The server's name in messages. */
  readonly label: string;
  readonly target: NamedTarget;
  readonly timeoutMs: number;
}

/** Seconds that a server has for an answer, unless `--timeout` is given. */
const DEFAULT_TIMEOUT_SECONDS = 60;

/** Milliseconds until the waiting for a server is shown, and between two updates of that line. */
const SHOWN_MS = 5_000;
const STEP_MS = 1_000;

/** The most characters of a program's error output that are kept, to explain why it does not answer. */
const MAX_ERROR_OUTPUT = 4_096;

/**
 * Does a command's work with a connected client, and sets the exit status.
 * @param typed the first argument, which names the server; @param work returns the exit status
 * @throws UsageError, ConfigError, CommandFailure
 */
export async function onServer(
  typed: string,
  flags: ServerFlags,
  secrets: Secrets,
  work: (session: Session) => Promise<number>,
): Promise<void> {
  await withOutput(flags, secrets, async (output, signal) => {
    const typedMs = millisecondsOf(flags.timeout);
    const timeoutMs = typedMs ?? DEFAULT_TIMEOUT_SECONDS * 1_000;
    const target = await openTarget(typed, flags, secrets);
    if (target.note !== undefined) output.note(target.note);
    let errorOutput = '';
    const onStderr = (text: string): void => {
      errorOutput = (errorOutput + text).slice(-MAX_ERROR_OUTPUT);
      if (flags.serverLog === true) process.stderr.write(safeLines(secrets.hide(text)));
    };
    const abilities = abilitiesFor(output, { label: target.label, roots: flags.root ?? [] });
    const waiting = showWaiting(output, target.label);
    const here = await hereOf(target, flags, secrets, onStderr);
    try {
      const server = serverTarget(target, { connectMs: typedMs, onStderr, abilities });
      await using resources = await clientOf(server, here, { timeoutMs, signal }).finally(() => clearInterval(waiting));
      const facts = await resources.connect(signal);
      output.progress();
      const session: Session = { resources, facts, output, signal, label: target.label, target, timeoutMs };
      return await work(session);
    } catch (error) {
      signal.throwIfAborted();
      throw here?.failure?.error ?? failureOf(error, target.label, errorOutput);
    }
  });
}

async function hereOf(
  { source }: NamedTarget,
  ...rest: [TargetFlags, Secrets, (text: string) => void]
): Promise<Here | undefined> {
  if (source === undefined) return undefined;
  // The modules of the server are loaded only here, because most commands serve nothing.
  const { serveHere } = await import('./serve-here.ts');
  return serveHere(source, ...rest);
}

/** Connects a client: over the network, to a program, or to the server in this process. */
async function clientOf(
  server: Exclude<ServerTarget, string | URL>,
  here: Here | undefined,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<ResourceClient> {
  if (here === undefined) return connectResourceClient(server, { signal, timeoutMs });
  const connect = lineConnect(server, (intake) => hereTransport(here.begin, intake));
  return connected(createResourceClient(connect, { timeoutMs }), signal);
}

/** Shows how long a slow server has been starting. @returns the timer, to be cleared when the server answers */
function showWaiting(output: Output, label: string): NodeJS.Timeout {
  const begun = Date.now();
  output.progress(`connecting to ${label}`);
  return setInterval(() => {
    const ms = Date.now() - begun;
    if (ms >= SHOWN_MS) output.progress(`${label} is still starting (${Math.round(ms / 1_000)} s)`);
  }, STEP_MS);
}

/** Returns how the client of a command connects to a server. A program's error output goes to `onStderr`. */
export function serverTarget(
  { server }: NamedTarget,
  {
    connectMs,
    onStderr,
    abilities,
  }: {
    readonly connectMs: number | undefined;
    readonly onStderr?: ((text: string) => void) | undefined;
    readonly abilities?: Abilities | undefined;
  },
): Exclude<ServerTarget, string | URL> {
  return {
    ...server,
    ...('command' in server && { onStderr }),
    ...abilities,
    clientInfo: { name: 'vitrine', version: VERSION },
    connectTimeoutMs: connectMs,
  };
}

/** Converts `--timeout` to milliseconds. @throws UsageError for a value that is no number, or out of its range */
const millisecondsOf = (seconds: string | undefined): number | undefined =>
  seconds === undefined ? undefined : numberOf(seconds, '--timeout', 0.001, 86_400) * 1_000;
