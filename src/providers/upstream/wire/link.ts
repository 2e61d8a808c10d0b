/** One connection to an upstream, in the era that it speaks: requests and results as they are on the wire. */

import {
  Client,
  type ClientCapabilities,
  type JSONRPCRequest,
  type McpSubscription,
  type PriorDiscovery,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { createAllowance } from '../../../connection/allowance.ts';
import type { Data, Era } from '../../../connection/data.ts';
import { type ConnectionTransport, dial, endedAtOnce, probeTimeoutMs } from '../../../connection/dial.ts';
import { endsConnection, faultOf, isGivenUp } from '../../../connection/faults.ts';
import { type Intake, type IntakeLimits, MAX_QUESTIONS } from '../../../connection/intake.ts';
import { ORIGIN_HEADER } from '../../../connection/message-origin.ts';
import { anyResult } from '../../../connection/results.ts';
import { AS_EXTENSION, keepWhole, othersOfProgress, wholeResult } from '../../../connection/whole-messages.ts';
import { cleanText } from '../../../core/clean-text.ts';
import type { Log } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { VERSION } from '../../../core/version.ts';
import { MAX_DESCRIPTION_LENGTH } from '../border/described.ts';
import { isStdio, type UpstreamOptions } from '../options.ts';
import { createSaid } from '../said.ts';
import { cutOffError, upstreamError } from './faults.ts';
import { checkShape } from './shapes.ts';
import { createTransport } from './transport.ts';

export interface LinkFacts {
  readonly era: Era;
  readonly capabilities: ServerCapabilities;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly instructions: string | undefined;
}

export interface LinkEvents {
  /** A notification that is not about one request's progress, as it came. */
  notified(method: string, params: Data): void;
  /** A 2025-era server asks its client. @throws what the client refuses with */
  asked(request: JSONRPCRequest, signal: AbortSignal): Promise<Data>;
  /** Notifications may have been missed, and come again now. */
  missed(): void;
  /** The server went over a limit: it is cut off, also while it is being connected to. Told before its end. */
  cutOff(reason: ResourceError): void;
  /** Nothing comes any more. Told once, also after `close`. @param cutOff why, where the server went over a limit */
  ended(cutOff: ResourceError | undefined): void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Asks for reports of progress, each of which renews the time. */
  readonly onProgress?:
    | ((progress: number, total: number | undefined, message: string | undefined, others: Data | undefined) => void)
    | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Is in the `_meta` of the log messages that come on the request's own stream, where it has one. */
  readonly origin?: string | undefined;
}

export interface Link extends LinkFacts {
  /** @throws ResourceError, a `PeerError` for what the server answers with */
  request(method: string, params: Data, options: RequestOptions): Promise<Data>;
  /** Opens a stream of notifications, in 2026-07-28. */
  listen(filter: SubscriptionFilter, options: RequestOptions): Promise<McpSubscription>;
  readonly ended: boolean;
  /** Asks the server something that costs it nothing. One that does not answer, and has nothing else to do, has ended. */
  alive(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** What was found out about an upstream's era, so that it is not asked each time. */
export interface Verdict {
  readonly prior: PriorDiscovery;
  readonly at: number;
}

/** A verdict is looked into again after this many milliseconds: servers are brought up to date. */
export const VERDICT_MS = 60 * 60 * 1000;

/** One that rests on silence, after this many: the server may only have been slow to start. */
const SILENT_VERDICT_MS = 60_000;

const silentVerdict = (): Verdict => ({ prior: { kind: 'legacy' }, at: Date.now() - VERDICT_MS + SILENT_VERDICT_MS });

/** Errors of one connection that are logged. */
const LOGGED = { burst: 100, perSecond: 1 } as const;

const isLate = (error: unknown): boolean => faultOf(error).kind === 'late';

const MODERN = '2026-07-28';

const IDENTITY = { name: 'vitrine', version: VERSION };

export interface LinkLimits {
  /** For all of connecting, and for requests that are not a client's, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Log;
  /** Gives up connecting. */
  readonly signal?: AbortSignal | undefined;
}

type Target = Pick<UpstreamOptions, 'name' | 'target' | 'era' | keyof IntakeLimits>;

/** @throws ResourceError `unavailable`, `timeout` */
export async function openLink(
  options: Target,
  capabilities: Data,
  verdict: Verdict | undefined,
  events: LinkEvents,
  limits: LinkLimits,
): Promise<{ link: Link; verdict: Verdict }> {
  try {
    return await connect(options, capabilities, verdict, events, limits);
  } catch (error) {
    if (limits.signal?.aborted === true) throw limits.signal.reason;
    const asked = verdict === undefined || Date.now() - verdict.at >= VERDICT_MS;
    if (!asked || options.era === '2026' || !isStdio(options.target) || !endedAtOnce(error))
      throw connectFault(error, options.name);
  }
  // Some programs of the 2025 era end when they are asked for their era: another one is not asked.
  return connect(options, capabilities, silentVerdict(), events, limits).catch((error: unknown) => {
    throw connectFault(error, options.name);
  });
}

/** Whatever a server says to a handshake, for the clients that wait it cannot be reached. */
function connectFault(error: unknown, name: string): unknown {
  if (faultOf(error).kind !== 'answered') return upstreamError(error, name);
  return new ResourceError('unavailable', `The server behind "${name}" refuses to be connected to`, { cause: error });
}

async function connect(
  options: Target,
  capabilities: Data,
  verdict: Verdict | undefined,
  events: LinkEvents,
  limits: LinkLimits,
): Promise<{ link: Link; verdict: Verdict }> {
  const { name, target } = options;
  const client = new Client(IDENTITY, {
    capabilities: capabilities as ClientCapabilities,
    versionNegotiation: {
      mode: options.era === '2026' ? { pin: MODERN } : 'auto',
      probe: { timeoutMs: probeTimeoutMs(limits.timeoutMs) },
    },
    inputRequired: { autoFulfill: false },
  });
  let ended = false;
  let opened = false;
  let questions = 0;
  let cutOff: ResourceError | undefined;
  const end = (): void => {
    if (ended) return;
    ended = true;
    if (opened) events.ended(cutOff);
  };
  const said = createSaid(target);
  const logged = createAllowance(LOGGED);
  client.onerror = (error) => {
    if (logged.take(1)) limits.log.debug('upstream', { mount: name, error });
    if (isGivenUp(error)) void close();
  };
  client.onclose = end;
  client.fallbackNotificationHandler = async ({ method, params }) => {
    if (!ended) events.notified(method, (params ?? {}) as Data);
  };
  client.fallbackRequestHandler = (request, ctx) => ask(request, ctx.mcpReq.signal) as never;
  async function ask(request: JSONRPCRequest, signal: AbortSignal): Promise<Data> {
    if (questions >= MAX_QUESTIONS) throw new Error(`There may be ${MAX_QUESTIONS} open questions; wait for an answer`);
    questions++;
    try {
      return await events.asked(request, signal);
    } finally {
      questions--;
    }
  }
  const close = (): Promise<void> => client.close();
  const make = (intake: Intake): ConnectionTransport =>
    createTransport(target, name, { log: limits.log, said }, intake, {
      again() {
        if (!ended) events.missed();
      },
      ended() {
        // The transport opens it again by itself; whether there is still somebody to open it to is asked here.
        if (!ended) client.ping({ timeout: limits.timeoutMs }).catch(() => void close());
      },
    });
  const prior = verdict !== undefined && Date.now() - verdict.at < VERDICT_MS ? verdict.prior : undefined;
  const intake = await dial(client, make, {
    limits: options,
    timeoutMs: limits.timeoutMs,
    signal: limits.signal,
    prior,
    closing: end,
    cutOff(fault) {
      cutOff = cutOffError(fault, name);
      events.cutOff(cutOff);
    },
    threwAway(what, limit, most) {
      const outcome = what === 'answer' ? 'the request fails that it answers' : 'it is left out';
      limits.log.warn(`a message of a mounted server has too much in it: ${outcome}`, { mount: name, limit, most });
    },
  });
  if (client.transport !== undefined) keepWhole(client.transport);
  opened = true;
  const discovered = client.getDiscoverResult();
  const era: Era = client.getProtocolEra() === 'modern' ? 'modern' : 'legacy';
  const server = client.getServerVersion();
  /** Requests without an answer, by the order in which they were sent. */
  const waiting = new Set<number>();
  let sent = 0;
  let checking = false;

  /**
   * After an answer that did not come: whether any would. A server that is busy with a call from before is left to it.
   * @param since which request it was
   */
  async function check(timeout: number, since: number): Promise<void> {
    if (checking || ended) return;
    checking = true;
    try {
      await (discovered === undefined ? client.ping({ timeout }) : client.discover({ timeout }));
    } catch (error) {
      if (endsConnection(error, era) || (isLate(error) && !isBusySince(since))) void close();
    } finally {
      checking = false;
    }
  }

  function isBusySince(since: number): boolean {
    const [oldest] = waiting;
    return oldest !== undefined && oldest <= since;
  }

  const link: Link = {
    era,
    capabilities: client.getServerCapabilities() ?? {},
    name: server?.name,
    version: server?.version,
    instructions: instructionsOf(client.getInstructions()),
    async request(method, params, { signal, timeoutMs, onProgress, headers, origin }) {
      const turn = ++sent;
      waiting.add(turn);
      try {
        const sentAs = era === 'modern' && method.startsWith('tasks/') ? `${AS_EXTENSION}${method}` : method;
        const answer = await client.request({ method: sentAs, params }, anyResult, {
          allowInputRequired: true,
          timeout: timeoutMs,
          ...(signal !== undefined && { signal }),
          ...((headers ?? origin) !== undefined && {
            headers: { ...headers, ...(origin !== undefined && { [ORIGIN_HEADER]: origin }) },
          }),
          ...(onProgress !== undefined && {
            resetTimeoutOnProgress: true,
            onprogress: ({ progress, total, message, ...more }) =>
              onProgress(
                progress,
                total,
                message === undefined ? undefined : said.text(message),
                said.others(othersOfProgress('_meta' in more ? more._meta : undefined)),
              ),
          }),
        });
        await intake.rest();
        const result = wholeResult(answer);
        checkShape(method, result, name);
        return result;
      } catch (error) {
        if (signal?.aborted !== true && endsConnection(error, era)) void close();
        else if (isLate(error)) void check(Math.min(timeoutMs, limits.timeoutMs), turn);
        throw said.fault(upstreamError(error, name, era, signal));
      } finally {
        waiting.delete(turn);
      }
    },
    async listen(filter, { signal, timeoutMs }) {
      try {
        return await client.listen(filter, { timeout: timeoutMs, ...(signal !== undefined && { signal }) });
      } catch (error) {
        if (signal?.aborted !== true && endsConnection(error, era)) void close();
        throw said.fault(upstreamError(error, name, era, signal));
      }
    },
    get ended() {
      return ended;
    },
    async alive(timeoutMs) {
      await check(timeoutMs, sent);
      return !ended;
    },
    close,
  };
  return {
    link,
    verdict:
      prior !== undefined && verdict !== undefined && prior.kind === 'legacy'
        ? verdict
        : {
            prior: discovered === undefined ? { kind: 'legacy' } : { kind: 'modern', discover: discovered },
            at: Date.now(),
          },
  };
}

/** They are given to models before anybody has asked for anything. */
const instructionsOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cleanText(text, MAX_DESCRIPTION_LENGTH);
