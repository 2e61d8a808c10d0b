/** One endpoint for both eras: authenticates a request, checks it, and passes it on. It does not listen by itself. */
import { ANONYMOUS, type Log, SILENT } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import { excessOf } from '../../core/text/json-text.ts';
import type { Engine } from '../../engine/index.ts';
import { createFailures } from '../auth/failures.ts';
import { type Authenticated, type AuthOptions, createAuthorization } from '../auth/index.ts';
import { challengeScopes } from '../auth/scope-challenge.ts';
import { type Claim, claimOf } from '../claim.ts';
import { MAX_DEPTH } from '../depth.ts';
import { createDispatcher, type Dispatcher } from '../dispatch/dispatcher.ts';
import { idIn } from '../messages.ts';
import type { ResumptionOptions } from '../sessions/resumption.ts';
import { createSessions, DEFAULT_SESSION_LIMITS, type SessionLimits } from '../sessions/sessions.ts';
import { type CardOptions, createCard } from './card.ts';
import { type ConnectionLimits, connectionsFor, DEFAULT_CONNECTION_LIMITS } from './connection-limits.ts';
import { createEventStreams } from './events.ts';
import { type HttpAnswer, type HttpRequest, json, refusal } from './exchange.ts';
import { refuseFlood } from './floods.ts';
import { createGuard, type Guard, type GuardOptions } from './guard.ts';
import { createModern, DEFAULT_MODERN_LIMITS, type HttpCall, type ModernLimits } from './modern.ts';

export interface EndpointOptions extends GuardOptions {
  /** Who may use the endpoint. Default: everybody who reaches it. */
  readonly auth?: AuthOptions | undefined;
  /** The server card (SEP-2127), which everybody may read; `false` for none. Default: the server's identity. */
  readonly card?: CardOptions | false | undefined;
  readonly log?: Log | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Lets clients of the 2025 era resume a broken stream. Default: no. */
  readonly resume?: ResumptionOptions | undefined;
}

export interface HttpLimits extends SessionLimits, ModernLimits, ConnectionLimits {
  /** The most bytes of a request's body. */
  readonly maxRequestBytes: number;
  /** The most levels of nested arrays and objects in a request's body. */
  readonly maxRequestDepth: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...DEFAULT_SESSION_LIMITS,
  ...DEFAULT_MODERN_LIMITS,
  ...DEFAULT_CONNECTION_LIMITS,
  maxRequestBytes: 4 * 1024 * 1024,
  maxRequestDepth: MAX_DEPTH,
};

/** GET and DELETE are only for sessions of the 2025 era. */
export const METHODS = ['POST', 'GET', 'DELETE'] as const;

/** The most messages of one batch; revision 2025-03-26 allows batches. All messages of a batch are answered concurrently. */
const MAX_BATCH = 100;

/** The sender of a request, as far as the server knows it from outside the request. */
export type Sender = Partial<Authenticated> & {
  /** The address that the request came from, for the audit. */
  readonly from?: string | undefined;
};

/** The endpoint, independent of the HTTP server in use. */
export interface EndpointCore {
  readonly limits: HttpLimits;
  /** @param read returns the body, up to a number of bytes; undefined where it has more */
  answer(
    request: HttpRequest,
    read: (limit: number) => Promise<Uint8Array | undefined>,
    sender: Sender,
  ): Promise<HttpAnswer>;
  /** Authenticates a request outside the endpoint, or returns the answer that refuses it. */
  admit(request: HttpRequest, from: string | undefined): Promise<Authenticated | HttpAnswer>;
  readonly dispatcher: Dispatcher;
  close(): Promise<void>;
}

const NO_ACCESS =
  'auth says who may connect, but nothing says what they may do: give createVitrine an access, as in ' +
  "access: { rules: [{ effect: 'allow', who: 'authenticated' }] }";

/** @throws ResourceError `invalid` for an inconsistent `auth`, for `auth` without an access policy, or for a wrong `card` */
export function createEndpointCore(engine: Engine, options: EndpointOptions): EndpointCore {
  const log = options.log ?? SILENT;
  const httpLimits = { ...DEFAULT_HTTP_LIMITS, ...options.limits };
  const limits = { ...httpLimits, maxConnections: options.limits?.maxConnections ?? connectionsFor(httpLimits) };
  if (options.auth !== undefined && engine.access === undefined) throw new ResourceError('invalid', NO_ACCESS);
  const failures = createFailures(engine.refused);
  const authorization = options.auth && createAuthorization(options.auth, log, failures.add);
  const guard = createGuard({ ...options, allowedHosts: [...(options.allowedHosts ?? []), ...publicHost(options)] });
  const card = options.card === false ? undefined : createCard(engine.identity, options.card ?? {}, options.auth);
  const dispatcher = createDispatcher(engine);
  const streams = createEventStreams();
  const sessions = createSessions({ engine, dispatcher, streams, log, limits, resume: options.resume });
  const modern = createModern({ engine, dispatcher, streams, log, limits });

  function answerPost(call: HttpCall, bytes: Uint8Array): HttpAnswer | Promise<HttpAnswer> {
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
    const { headers } = call.http;
    const claim = claimOf(body, {
      version: headers.get('mcp-protocol-version'),
      method: headers.get('mcp-method'),
      name: headers.get('mcp-name'),
    });
    // A kept answer was counted and allowed already; nothing below could refuse it.
    const again = claim.kind === 'modern' && claim.request ? modern.again(call, claim.request) : undefined;
    return again ?? answerAnew(call, body, claim);
  }

  async function answerAnew(call: HttpCall, body: unknown, claim: Claim): Promise<HttpAnswer> {
    const { http, principal } = call;
    const counting = refuseFlood(engine, body, principal);
    const flooded = counting && (await counting);
    if (flooded !== undefined) return flooded;
    const challenging =
      authorization && challengeScopes(engine, authorization, { request: http, message: body, principal });
    const challenged = challenging && (await challenging);
    if (challenged !== undefined) return challenged;
    switch (claim.kind) {
      case 'modern':
        return modern.handle(call, claim.request);
      case 'legacy':
        return sessions.handle(call, body);
      case 'refused':
        return json(claim.status, { jsonrpc: '2.0', error: claim.problem, id: idIn(body) });
    }
  }

  return {
    limits,
    dispatcher,
    async admit(http, from) {
      const refused = guard(http);
      if (refused !== undefined) return refusal(403, -32_000, refused);
      return authorization?.authenticate(http, from) ?? { principal: ANONYMOUS };
    },
    async answer(http, read, sender) {
      const asksCard = http.method !== 'POST' && card?.concerns(http) === true;
      const refused = guard(asksCard && card.public ? withoutOrigin(http) : http);
      if (refused !== undefined) return refusal(403, -32_000, refused);
      // The card needs no token, so its requests are counted against floods.
      if (asksCard) return (await refuseFlood(engine, undefined, ANONYMOUS)) ?? card.answer(http);
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
        const flooded = await refuseFlood(engine, undefined, principal);
        return flooded ?? sessions.handle({ http, principal, expiresAt }, undefined);
      }
      const unreadable = bodyFormProblem(headers);
      if (unreadable !== undefined) return refusal(415, -32_000, unreadable);
      const bytes = await read(limits.maxRequestBytes);
      if (bytes === undefined) return refusal(413, -32_000, `A request has at most ${limits.maxRequestBytes} bytes`);
      return answerPost({ http, principal, expiresAt }, bytes);
    },
    async close() {
      failures.close();
      await modern.close();
      await sessions.close();
      streams.close();
    },
  };
}

const withoutOrigin = ({ url, headers }: HttpRequest): Parameters<Guard>[0] => ({
  url,
  headers: {
    get: (name) => (name === 'origin' ? null : headers.get(name)),
    has: (name) => name !== 'origin' && headers.has(name),
  },
});

/**
 * Returns the problem of headers that describe the body's encoding, for a 415; undefined where there is none. The body
 * has to be JSON, and JSON is UTF-8 (RFC 8259 8.1).
 */
function bodyFormProblem(headers: HttpRequest['headers']): string | undefined {
  const written = (headers.get('content-type') ?? '').toLowerCase();
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (written !== 'application/json') {
    const [type, ...parameters] = written.split(';');
    if (type?.trim() !== 'application/json') return 'The Content-Type must be application/json';
    const charset = parameters.map((each) => /^\s*charset\s*=\s*"?([^"]*?)"?\s*$/.exec(each)?.[1]).find(Boolean);
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return 'The charset must be utf-8';
  }
  return coding === 'identity' || coding === '' ? undefined : 'The body must have no Content-Encoding';
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Decodes a body; undefined when it is not UTF-8. Replacing invalid bytes would change its meaning. */
function textOf(body: Uint8Array): string | undefined {
  try {
    return decoder.decode(body);
  } catch {
    return undefined;
  }
}

/** The host name by which clients reach the endpoint. */
const publicHost = ({ auth }: Pick<EndpointOptions, 'auth'>): readonly string[] =>
  auth === undefined ? [] : [new URL(auth.resource).hostname];
