/**
 * Answers operators of the server: `GET /readyz`, and `GET /metrics` where it is enabled. Everybody who reaches the
 * server may ask whether it is ready; only those who may see the metrics learn why it is not. Metrics name mounts and
 * tools, so they need the token of the metrics, unless they are open; on a server without any tokens, they are shown on
 * this machine only.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Log } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import { isLoopback } from '../../core/hosts.ts';
import type { Engine } from '../../engine/index.ts';
import { createGuard, type GuardOptions } from './guard.ts';

export interface MetricsOptions {
  /** The metrics as they are now, in the text format of Prometheus. */
  readonly render: () => Promise<string>;
  /** The bearer token that the metrics require; at least 16 characters. */
  readonly token?: string | undefined;
  /** Shows the metrics to everybody who reaches the server. */
  readonly open?: boolean | undefined;
}

export interface Probes {
  ready(request: Request, address: string | undefined): Promise<Response>;
  /** Undefined where metrics are disabled. */
  readonly metrics: ((request: Request, address: string | undefined) => Promise<Response>) | undefined;
}

interface ProbeOptions extends GuardOptions {
  readonly metrics?: MetricsOptions | undefined;
  readonly auth?: object | undefined;
}

const MIN_TOKEN_LENGTH = 16;

/** How rates are counted while the bus is unreachable. */
const RATES = { local: 'counted alone', refuse: 'refused' } as const;

/** The shortest time between two questions to mounted servers, in milliseconds, however many probes come. */
const ANSWER_MS = 1_000;

const TEXT = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };

/** @throws ResourceError `invalid` for metrics that nobody could see, or with a token that is too short */
export function createProbes(engine: Engine, options: ProbeOptions, log: Log): Probes {
  const { metrics, auth } = options;
  const { token, open = false } = metrics ?? {};
  if (token !== undefined && token.length < MIN_TOKEN_LENGTH)
    throw invalid(`The token of the metrics has at least ${MIN_TOKEN_LENGTH} characters`);
  if (metrics !== undefined && auth !== undefined && token === undefined && !open)
    throw invalid('Beside auth, the metrics need a token of their own, or open: true');
  const guard = createGuard(options);
  const near = (request: Request, address: string | undefined): boolean =>
    auth === undefined && isNear(address) && !isForwarded(request.headers) && guard(request) === undefined;
  const mayKnow = (request: Request, address: string | undefined): boolean =>
    open || (token === undefined ? near(request, address) : hasToken(request.headers, token));

  const asked = atMostEvery(ANSWER_MS, () => engine.unready());

  return {
    async ready(request, address) {
      const unready = await asked();
      const status = unready.length === 0 ? 'ready' : 'unavailable';
      // Reads work without the bus, so the answer mentions the bus and the server stays ready.
      const away = engine.bus?.whole === false;
      const known = mayKnow(request, address)
        ? {
            ...(unready.length > 0 && { mounts: unready }),
            ...(away && { bus: 'away', rates: RATES[engine.ratesWithoutBus] }),
          }
        : {};
      const body = { status, ...known };
      return Response.json(body, {
        status: unready.length === 0 ? 200 : 503,
        headers: { 'Cache-Control': 'no-store' },
      });
    },
    metrics:
      metrics === undefined
        ? undefined
        : async (request, address) => {
            if (!mayKnow(request, address)) return refused(token !== undefined);
            try {
              return new Response(await metrics.render(), { headers: TEXT });
            } catch (error) {
              log.error('the metrics could not be read', { error });
              return new Response('The metrics could not be read\n', { status: 500, headers: TEXT });
            }
          },
  };
}

/** Shares one answer among all who ask while it is computed, and for some milliseconds after that. */
function atMostEvery<T>(ms: number, ask: () => Promise<T>): () => Promise<T> {
  let latest: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (latest !== undefined && Date.now() < latest.until) return latest.answer;
    const asking = { answer: ask(), until: Number.POSITIVE_INFINITY };
    latest = asking;
    const answered = (): void => {
      asking.until = Date.now() + ms;
    };
    asking.answer.then(answered, answered);
    return asking.answer;
  };
}

const refused = (byToken: boolean): Response =>
  byToken
    ? new Response('A token is needed\n', { status: 401, headers: { ...TEXT, 'WWW-Authenticate': 'Bearer' } })
    : new Response('The metrics are shown on this machine only\n', { status: 403, headers: TEXT });

const isNear = (address: string | undefined): boolean => address !== undefined && isLoopback(address);

/** Whether a proxy on this machine passed the request on. */
const isForwarded = (headers: Headers): boolean =>
  ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => headers.has(name));

function hasToken(headers: Headers, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
