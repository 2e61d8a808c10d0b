/** Connects a client of the SDK, in time and within limits. If that fails, nothing of the connection is left open. */

import {
  type Client,
  type PriorDiscovery,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { abortable } from '../core/waiting/abortable.ts';
import { inTime } from '../core/waiting/in-time.ts';
import { ConnectionFault, faultOf } from './faults.ts';
import { createIntake, type Intake, type IntakeEvents, type IntakeLimits } from './intake.ts';
import { ENDPOINT_HINT, PROGRAM_HINT } from './seen.ts';

export type ConnectionTransport = Transport & {
  /** Ends the connection at once. */
  cut?(): void;
  /** How the program has ended by itself, as in `ended with exit status 1`; undefined while it runs. */
  readonly exit?: string | undefined;
  /** Describes output that is no message, as in `wrote "...", which is not an MCP message`. Undefined if there was none. */
  readonly odd?: string | undefined;
  /** The line of the program's standard error that best explains a failure; undefined if there is none. */
  readonly stderrLine?: string | undefined;
};

export interface DialOptions extends Partial<IntakeEvents> {
  readonly limits: IntakeLimits;
  /** The most milliseconds for all of connecting. */
  readonly timeoutMs: number;
  /** Aborts connecting, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** The server's era, if it is known: then the server is not asked for it. */
  readonly prior?: PriorDiscovery | undefined;
  /** Called when the connection is about to be closed. */
  closing?(): void;
}

/**
 * How long connecting may take by default, in milliseconds. A program may have to be downloaded before it starts, as with `npx`
 * and `uvx`.
 */
export const CONNECT_MS = { program: 300_000, url: 60_000 } as const;

/** How long a server may take to end a session, in milliseconds. */
const GRACE_MS = 1_000;

/**
 * Connects the client. From then on the client's own `close` also ends the session at the server, which is not left to expire.
 * @param make makes the transport, which keeps to the limits of the intake
 * @throws ConnectionFault `late`, `cut-off`, `ended` for a program that has ended by itself, `unreachable` for an answer that is
 *   not as of an MCP server; the signal's reason; any other error of connecting
 */
export async function dial(
  client: Client,
  make: (intake: Intake) => ConnectionTransport,
  options: DialOptions,
): Promise<Intake> {
  const { limits, timeoutMs, signal, prior } = options;
  const gaveUp = new AbortController();
  let closing: Promise<void> | undefined;
  const end = client.close.bind(client);
  const close = (): Promise<void> => {
    options.closing?.();
    closing ??= hangUp(transport, end);
    return closing;
  };
  const intake = createIntake(limits, {
    ...options,
    cutOff(fault) {
      options.cutOff?.(fault);
      transport.cut?.();
      // If the client is still connecting, that fails with this fault.
      gaveUp.abort(fault);
      client.close().catch(() => {});
    },
  });
  const transport = make(intake);
  const late = (): void => gaveUp.abort(new ConnectionFault('late'));
  const timer = setTimeout(late, timeoutMs);
  const stopSignal = signal === undefined ? gaveUp.signal : AbortSignal.any([gaveUp.signal, signal]);
  try {
    stopSignal.throwIfAborted();
    await abortable(negotiate(client, transport, timeoutMs, prior), stopSignal);
    stopSignal.throwIfAborted();
  } catch (error) {
    const hasEnded = endedAtOnce(error) || faultOf(error).kind === 'ended';
    await close();
    throw hasEnded && transport.exit !== undefined
      ? new ConnectionFault('ended', endOf(transport))
      : explained(error, transport, timeoutMs);
  } finally {
    clearTimeout(timer);
  }
  client.close = close;
  intake.ready();
  return intake;
}

async function negotiate(
  client: Client,
  transport: Transport,
  timeout: number,
  prior: PriorDiscovery | undefined,
): Promise<void> {
  await client.connect(transport, { timeout, ...(prior !== undefined && { prior }) });
  // With a known era nothing has been sent yet, and only an answer shows that the server is there.
  if (prior?.kind === 'modern') await client.discover({ timeout });
}

function endOf({ exit, odd, stderrLine }: ConnectionTransport): string {
  const wrote = odd === undefined ? '' : `, and ${odd}`;
  return `The program ${exit}${wrote}${stderrLine === undefined ? PROGRAM_HINT : `; it said: ${stderrLine}`}`;
}

/** Describes what the server did in place of an answer. */
function silence(transport: ConnectionTransport, timeoutMs: number): string {
  const seconds = Number((timeoutMs / 1_000).toFixed(1));
  if (!('stderrLine' in transport)) return `it did not answer in ${seconds} s${ENDPOINT_HINT}`;
  const { odd = 'wrote nothing to standard output', stderrLine } = transport;
  return `in ${seconds} s it ${odd}${PROGRAM_HINT}${stderrLine === undefined ? '' : ` It said: ${stderrLine}`}`;
}

/** Adds to the error of a failed connection what the server did: it gave no answer, or one that is not from an MCP server. */
function explained(error: unknown, transport: ConnectionTransport, timeoutMs: number): unknown {
  const { kind, answer, message } = faultOf(error);
  if (kind === 'late') {
    return new ConnectionFault('late', `Connecting took too long: ${silence(transport, timeoutMs)}`);
  }
  if (kind === 'answered') {
    const words = JSON.stringify(answer?.message ?? message);
    return new ConnectionFault('unreachable', `It answers, but takes no handshake of MCP: ${words}`, { cause: error });
  }
  if (kind === 'garbled') {
    return new ConnectionFault('unreachable', 'It answers, but not as an MCP server does', { cause: error });
  }
  return error;
}

async function hangUp(transport: Transport, end: () => Promise<void>): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport) {
    await inTime(
      transport.terminateSession().catch(() => {}),
      GRACE_MS,
    );
  }
  await end().catch(() => {});
  // The client has no transport yet while it asks the server for its era.
  await transport.close().catch(() => {});
}

/**
 * Whether a program may have ended because it was asked for its era, as some programs of the 2025 era do. The caller may start
 * it again without asking.
 */
export const endedAtOnce = (error: unknown): boolean =>
  error instanceof ConnectionFault
    ? error.kind === 'ended'
    : error instanceof SdkError &&
      (error.code === SdkErrorCode.EraNegotiationFailed || error.code === SdkErrorCode.ConnectionClosed);
