/** The way back to the client of one request, out of the SDK's context. */

import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Context } from '../core/context.ts';
import type { CursorScope } from '../core/cursor.ts';
import { invalid } from '../core/errors.ts';
import type { ClientFeatures, Invocation, LoggingLevel } from '../core/invocation.ts';
import { keyed } from '../core/keyed.ts';
import { scrub, scrubData } from '../core/scrub.ts';
import type { Vitrine } from '../vitrine.ts';
import type { Connection } from './connection.ts';
import type { WholeResultServer } from './whole-results.ts';

/** Progress of one request is reported this often in the long run, in milliseconds; its end is always reported. */
const PROGRESS_INTERVAL_MS = 100;

/** Reports that may follow each other faster than that, as those of short work do. */
const PROGRESS_BURST = 10;

/** Log messages that one request may send to its client. */
const MAX_LOG_MESSAGES = 100;

/** An invocation, and what ends its way back: nothing is sent for a request that is answered (SEC-UTIL-3). */
export interface RunningInvocation {
  readonly invocation: Invocation;
  end(): void;
}

export function startInvocation(
  vitrine: Vitrine,
  server: WholeResultServer,
  connection: Connection,
  sdk: ServerContext,
  method: string,
  params: unknown,
  ctx: Context,
): RunningInvocation {
  let ended = false;
  const undelivered = (error: unknown): void => ctx.log.debug('a notification was not delivered', { error });
  const invocation: Invocation = {
    ...ctx,
    // Opened before anything runs: altered state is an error of the request, not of a tool.
    state: openState(vitrine, sdk, () => scopeOf(method, params, ctx)),
    client: featuresOf(server, connection, sdk),
    wantsProgress: sdk.mcpReq._meta?.progressToken !== undefined,
    progress: unless(() => ended, progressOf(sdk, shownBy(vitrine), undelivered)),
    notify: unless(() => ended, notifierOf(sdk, shownBy(vitrine), undelivered)),
    hangUp: () => sdk.http?.closeSSE?.(),
    answers: answersIn(sdk),
    seal: sealerOf(vitrine, method, params, ctx),
  };
  const end = (): void => {
    ended = true;
  };
  return { invocation, end };
}

/** Under no other keys than the client sent. What came as `__proto__`, the SDK has made the prototype of the others. */
function answersIn({ mcpReq }: ServerContext): Invocation['answers'] {
  const responses: Readonly<Record<string, unknown>> = mcpReq.inputResponses ?? {};
  const answers = keyed(responses);
  const lost: unknown = Object.getPrototypeOf(responses);
  if (lost !== Object.prototype && lost !== null)
    Object.defineProperty(answers, '__proto__', { value: lost, enumerable: true });
  return answers;
}

/** Text as clients are shown it (SEC-UTIL-4). Hidden first: a secret that was cut is not found any more. */
const shownBy =
  ({ hide }: Vitrine) =>
  (text: string): string =>
    scrub(hide === undefined ? text : hide(text));

function unless<Args extends readonly unknown[]>(ended: () => boolean, run: (...args: Args) => void) {
  return (...args: Args): void => {
    if (!ended()) run(...args);
  };
}

const scopeOf = (method: string, params: unknown, { principal }: Context): CursorScope => ({
  principal: principal.id,
  method: `${method} state`,
  parameters: [digest(params)],
});

/** Seals state for one request of one principal. */
export const sealerOf =
  (vitrine: Vitrine, method: string, params: unknown, ctx: Context): Invocation['seal'] =>
  (state) =>
    vitrine.resources.cursors.seal(JSON.stringify(state), scopeOf(method, params, ctx));

/** @throws ResourceError `invalid` for state that was not sealed for this request */
function openState(vitrine: Vitrine, sdk: ServerContext, scope: () => CursorScope): unknown {
  const state = sdk.mcpReq.requestState();
  if (state === undefined) return undefined;
  if (typeof state !== 'string') throw invalid('The request state is not one of this server');
  try {
    return JSON.parse(vitrine.resources.cursors.open(state, scope()));
  } catch (cause) {
    throw invalid('The request state is not valid for this request or has expired; call again without it').withCause(
      cause,
    );
  }
}

/** State belongs to one request: the same method with the same parameters. What differs between rounds does not count. */
function digest(params: unknown): string {
  const { _meta, inputResponses: _answers, requestState: _state, ...own } = params as Record<string, unknown>;
  return createHash('sha256').update(JSON.stringify(own)).digest('base64url');
}

function featuresOf(server: WholeResultServer, connection: Connection, sdk: ServerContext): ClientFeatures {
  const modern = connection.era === 'modern';
  const envelope = (sdk.mcpReq.envelope ?? {}) as Readonly<Record<string, unknown>>;
  const declared = modern
    ? (envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)
    : server.getClientCapabilities();
  return {
    ...declaredFeatures(declared),
    logLevel: modern ? (envelope[LOG_LEVEL_META_KEY] as LoggingLevel | undefined) : server.logLevel,
    ...(!modern && { ask: askerOf(sdk) }),
  };
}

/** What a client can be asked for, by what it declared. */
export function declaredFeatures(declared: ClientCapabilities | undefined): ClientFeatures {
  return {
    elicitation: takesForms(declared?.elicitation),
    sampling: declared?.sampling !== undefined,
    roots: declared?.roots !== undefined,
    declared: declared as Readonly<Record<string, unknown>> | undefined,
  };
}

/** How long a client may think about one question, in milliseconds: its user may be at lunch. */
const ASK_TIMEOUT_MS = 600_000;

const anyAnswer = z.looseObject({});

/** Asks on the stream of the running request, which is how the 2025 era does it. */
const askerOf =
  (sdk: ServerContext): ClientFeatures['ask'] =>
  ({ method, params }, signal) =>
    sdk.mcpReq.send({ method, ...(params !== undefined && { params }) }, anyAnswer, {
      signal: AbortSignal.any([signal, sdk.mcpReq.signal]),
      timeout: ASK_TIMEOUT_MS,
    });

/** Questions are forms. A client that declares no mode takes those. */
function takesForms(declared: ClientCapabilities['elicitation']): boolean {
  return declared !== undefined && (declared.form !== undefined || declared.url === undefined);
}

function progressOf(
  sdk: ServerContext,
  shown: (text: string) => string,
  undelivered: (error: unknown) => void,
): Invocation['progress'] {
  const token = sdk.mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let latest = Number.NEGATIVE_INFINITY;
  let left = PROGRESS_BURST;
  let countedAt = Date.now();
  return (progress, total, message) => {
    if (progress <= latest) return;
    const earned = Math.floor((Date.now() - countedAt) / PROGRESS_INTERVAL_MS);
    countedAt += earned * PROGRESS_INTERVAL_MS;
    left = Math.min(PROGRESS_BURST, left + earned);
    const ends = total !== undefined && progress >= total;
    if (left < 1 && !ends) return;
    left = Math.max(0, left - 1);
    latest = progress;
    sdk.mcpReq
      .notify({
        method: 'notifications/progress',
        params: {
          progressToken: token,
          progress,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message: shown(message) }),
        },
      })
      .catch(undelivered);
  };
}

function notifierOf(
  sdk: ServerContext,
  shown: (text: string) => string,
  undelivered: (error: unknown) => void,
): Invocation['notify'] {
  let sent = 0;
  return (level: LoggingLevel, data: unknown, logger = 'vitrine') => {
    if (sent++ >= MAX_LOG_MESSAGES) return;
    sdk.mcpReq.log(level, scrubData(data, shown), shown(logger)).catch(undelivered);
  };
}
