/** One endpoint for both eras: who asks, what, whether that may be, and which part answers. Listens to nothing by itself. */
import { ANONYMOUS, type Log, type Principal, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { excessOf } from '../../core/json-text.ts';
import type { Vitrine } from '../../vitrine.ts';
import { createFailures } from '../auth/failures.ts';
import { type Authenticated, type AuthOptions, createAuthorization } from '../auth/index.ts';
import { challengeScopes } from '../auth/scope-challenge.ts';
import { MAX_DEPTH } from '../depth.ts';
import { createDispatcher } from '../dispatch/dispatcher.ts';
import type { ResumptionOptions } from '../sessions/resumption.ts';
import { createSessions, DEFAULT_SESSION_LIMITS, type SessionLimits } from '../sessions/sessions.ts';
import { bodyFormProblem, textOf } from './body-form.ts';
import { type ConnectionLimits, connectionsFor, DEFAULT_CONNECTION_LIMITS } from './connection-limits.ts';
import { eraOf } from './era.ts';
import { createEventStreams } from './events.ts';
import { type HttpAnswer, type HttpRequest, refusal } from './exchange.ts';
import { refuseFlood } from './floods.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { createModern, DEFAULT_MODERN_LIMITS, type ModernLimits } from './modern.ts';

export interface EndpointOptions extends GuardOptions {
  /** Who may use the endpoint. Default: everybody who reaches it. */
  readonly auth?: AuthOptions | undefined;
  readonly log?: Log | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Lets 2025-era clients come back for what a broken stream did not bring. Default: not. */
  readonly resume?: ResumptionOptions | undefined;
}

export interface HttpLimits extends SessionLimits, ModernLimits, ConnectionLimits {
  /** Bytes of a request's body. */
  readonly maxRequestBytes: number;
  /** Levels of arrays and objects in a request's body. */
  readonly maxRequestDepth: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...DEFAULT_SESSION_LIMITS,
  ...DEFAULT_MODERN_LIMITS,
  ...DEFAULT_CONNECTION_LIMITS,
  maxRequestBytes: 4 * 1024 * 1024,
  maxRequestDepth: MAX_DEPTH,
};

/** GET and DELETE are for sessions of the 2025 era. */
export const METHODS = ['POST', 'GET', 'DELETE'] as const;

/** Messages of one batch, which revision 2025-03-26 allows: all are answered at the same time. */
const MAX_BATCH = 100;

/** What is known of who asks, beside the request. */
export type Sender = Partial<Authenticated> & {
  /** The address that the request came from, for the audit. */
  readonly from?: string | undefined;
};

/** The endpoint, for whatever brings requests. */
export interface EndpointCore {
  readonly limits: HttpLimits;
  /** @param read the body, at most so many bytes of it; undefined where it has more */
  answer(
    request: HttpRequest,
    read: (limit: number) => Promise<Uint8Array | undefined>,
    sender: Sender,
  ): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const NO_ACCESS =
  'auth says who may come in, and nothing says what they may do: give createVitrine an access, as in ' +
  "access: { rules: [{ effect: 'allow', who: 'authenticated' }] }";

/** @throws ResourceError `invalid` for an `auth` that makes no sense, or without an access */
export function createEndpointCore(vitrine: Vitrine, options: EndpointOptions): EndpointCore {
  const log = options.log ?? SILENT;
  const asked = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const limits = { ...asked, maxConnections: options.limits?.maxConnections ?? connectionsFor(asked) };
  if (options.auth !== undefined && vitrine.access === undefined) throw new ResourceError('invalid', NO_ACCESS);
  const failures = createFailures(vitrine.refused);
  const authorization = options.auth && createAuthorization(options.auth, log, failures.add);
  const guard = createGuard({ ...options, allowedHosts: [...(options.allowedHosts ?? []), ...publicHost(options)] });
  const dispatcher = createDispatcher(vitrine);
  const streams = createEventStreams();
  const sessions = createSessions({ vitrine, dispatcher, streams, log, limits, resume: options.resume });
  const modern = createModern({ vitrine, dispatcher, streams, log, limits });

  async function answerPost(
    http: HttpRequest,
    bytes: Uint8Array,
    principal: Principal,
    expiresAt: number | undefined,
  ): Promise<HttpAnswer> {
    const text = textOf(bytes);
    if (text === undefined) return refusal(400, -32_700, 'The request is not valid UTF-8');
    if (excessOf(text, { values: Number.POSITIVE_INFINITY, depth: limits.maxRequestDepth }) !== undefined)
      return refusal(400, -32_600, `A request is nested at most ${limits.maxRequestDepth} levels deep`);
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return refusal(400, -32_700, 'The request is not valid JSON');
    }
    if (Array.isArray(body) && body.length > MAX_BATCH)
      return refusal(400, -32_600, `A batch has at most ${MAX_BATCH} messages`);
    const counting = refuseFlood(vitrine, body, principal);
    const flooded = counting && (await counting);
    if (flooded !== undefined) return flooded;
    const challenging =
      authorization && challengeScopes(vitrine, authorization, { request: http, message: body, principal });
    const challenged = challenging && (await challenging);
    if (challenged !== undefined) return challenged;
    const entry = eraOf(http, body);
    if ('refused' in entry) return entry.refused;
    const asked = { http, principal, expiresAt };
    return entry.era === 'modern' ? modern.handle(asked, entry.request) : sessions.handle(asked, body);
  }

  return {
    limits,
    async answer(http, read, sender) {
      const refused = guard(http);
      if (refused !== undefined) return refusal(403, -32_000, refused);
      const metadata = authorization?.metadata(http);
      if (metadata !== undefined) return metadata;
      const asking = sender.principal === undefined ? authorization?.authenticate(http, sender.from) : sender;
      const asks = asking instanceof Promise ? await asking : asking;
      if (asks !== undefined && 'status' in asks) return asks;
      const { principal = ANONYMOUS, expiresAt } = asks ?? {};
      const { method, headers } = http;
      if (!METHODS.includes(method as 'POST'))
        return refusal(405, -32_000, 'Method not allowed', { Allow: METHODS.join(', ') });
      if (method !== 'POST') {
        const flooded = await refuseFlood(vitrine, undefined, principal);
        return flooded ?? sessions.handle({ http, principal, expiresAt }, undefined);
      }
      const unreadable = bodyFormProblem(headers);
      if (unreadable !== undefined) return refusal(415, -32_000, unreadable);
      const bytes = await read(limits.maxRequestBytes);
      if (bytes === undefined) return refusal(413, -32_000, `A request has at most ${limits.maxRequestBytes} bytes`);
      return answerPost(http, bytes, principal, expiresAt);
    },
    async close() {
      failures.close();
      await modern.close();
      await sessions.close();
      streams.close();
    },
  };
}

/** The name that clients know the endpoint by. */
const publicHost = ({ auth }: Pick<EndpointOptions, 'auth'>): readonly string[] =>
  auth === undefined ? [] : [new URL(auth.resource).hostname];
