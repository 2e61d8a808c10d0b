/** The way back to the client of one request, out of the SDK's context. */
import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Context } from '../core/context.ts';
import { invalid } from '../core/errors.ts';
import type { ClientFeatures, Invocation, LoggingLevel } from '../core/invocation.ts';
import { scrub } from '../core/scrub.ts';
import type { Vitrine } from '../vitrine.ts';
import type { Connection } from './sdk-server.ts';

/** Progress of one request is reported at most this often, in milliseconds; its end is always reported. */
const PROGRESS_INTERVAL_MS = 100;

/** Log messages that one request may send to its client. */
const MAX_LOG_MESSAGES = 100;

export function invocationOf(
  vitrine: Vitrine,
  server: Server,
  connection: Connection,
  sdk: ServerContext,
  method: string,
  params: unknown,
  ctx: Context,
): Invocation {
  const scope = { principal: ctx.principal.id, method: `${method} state`, parameters: [digest(params)] };
  const undelivered = (error: unknown): void => ctx.log.debug('a notification was not delivered', { error });
  return {
    ...ctx,
    client: featuresOf(server, connection, sdk),
    progress: progressOf(sdk, undelivered),
    notify: notifierOf(sdk, undelivered),
    answers: sdk.mcpReq.inputResponses ?? {},
    get state(): unknown {
      const state = sdk.mcpReq.requestState();
      if (state === undefined) return undefined;
      if (typeof state !== 'string') throw invalid('The request state is not one of this server');
      try {
        return JSON.parse(vitrine.resources.cursors.open(state, scope));
      } catch (cause) {
        throw invalid(
          'The request state is not valid for this request or has expired; call again without it',
        ).withCause(cause);
      }
    },
    seal: (state) => vitrine.resources.cursors.seal(JSON.stringify(state), scope),
  };
}

/** State belongs to one request: the same method with the same parameters. What differs between rounds does not count. */
function digest(params: unknown): string {
  const { _meta, inputResponses: _answers, requestState: _state, ...own } = params as Record<string, unknown>;
  return createHash('sha256').update(JSON.stringify(own)).digest('base64url');
}

function featuresOf(server: Server, connection: Connection, sdk: ServerContext): ClientFeatures {
  const declared =
    connection.era === 'modern'
      ? ((sdk.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
          | ClientCapabilities
          | undefined)
      : server.getClientCapabilities();
  return {
    elicitation: declared?.elicitation !== undefined,
    sampling: declared?.sampling !== undefined,
    roots: declared?.roots !== undefined,
  };
}

function progressOf(sdk: ServerContext, undelivered: (error: unknown) => void): Invocation['progress'] {
  const token = sdk.mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let latest = Number.NEGATIVE_INFINITY;
  let sentAt = 0;
  return (progress, total, message) => {
    const now = Date.now();
    const ends = total !== undefined && progress >= total;
    if (progress <= latest || (!ends && now - sentAt < PROGRESS_INTERVAL_MS)) return;
    latest = progress;
    sentAt = now;
    sdk.mcpReq
      .notify({
        method: 'notifications/progress',
        params: {
          progressToken: token,
          progress,
          ...(total !== undefined && { total }),
          ...(message !== undefined && { message: scrub(message) }),
        },
      })
      .catch(undelivered);
  };
}

function notifierOf(sdk: ServerContext, undelivered: (error: unknown) => void): Invocation['notify'] {
  let sent = 0;
  return (level: LoggingLevel, data: unknown) => {
    if (sent++ >= MAX_LOG_MESSAGES) return;
    sdk.mcpReq.log(level, typeof data === 'string' ? scrub(data) : data, 'vitrine').catch(undelivered);
  };
}
