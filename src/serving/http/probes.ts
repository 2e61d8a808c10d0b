/**
 * Answers those who run the server: `GET /readyz`, and `GET /metrics` where that is wanted. Anybody who reaches the
 * server may ask whether it is ready, and is told no more than that. Names of mounts and tools are for those who run
 * it: whoever has the token of the metrics, or, where nothing on the server needs a token, whoever is on this machine.
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
  /** Needed to see them, as a bearer token; at least 16 characters. */
  readonly token?: string | undefined;
  /** Lets everybody who reaches the server see them. */
  readonly open?: boolean | undefined;
}

export interface Probes {
  ready(request: Request, address: string | undefined): Promise<Response>;
  /** Undefined where no metrics are wanted. */
  readonly metrics: ((request: Request, address: string | undefined) => Promise<Response>) | undefined;
}

interface ProbeOptions extends GuardOptions {
  readonly metrics?: MetricsOptions | undefined;
  readonly auth?: object | undefined;
}

const MIN_TOKEN_LENGTH = 16;

/** Mounted servers are asked this often at most, in milliseconds, however many ask here. */
const ANSWER_MS = 1_000;

const TEXT = { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8', 'Cache-Control': 'no-store' };

/** @throws ResourceError `invalid` for metrics that nobody could see, or with a token that could be guessed */
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
      // Reads go on without the bus, so it is said, and is no reason to be asked nothing any more.
      const away = engine.bus?.whole === false;
      const known = mayKnow(request, address)
        ? { ...(unready.length > 0 && { mounts: unready }), ...(away && { bus: 'away' }) }
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

/** The same answer for all who ask while it is on its way, and for so many milliseconds after that. */
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

/** A proxy on this machine speaks for others. */
const isForwarded = (headers: Headers): boolean =>
  ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => headers.has(name));

function hasToken(headers: Headers, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
