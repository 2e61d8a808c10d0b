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
import { type ConnectionTransport, dial } from '../../../connection/dial.ts';
import { endsConnection, faultOf, isGivenUp } from '../../../connection/faults.ts';
import { httpTransport, type StreamEvents } from '../../../connection/http.ts';
import { type Intake, type IntakeLimits, MAX_QUESTIONS } from '../../../connection/intake.ts';
import { ORIGIN_HEADER } from '../../../connection/message-origin.ts';
import { postMessage } from '../../../connection/node/post.ts';
import { programTransport } from '../../../connection/node/program.ts';
import {
  type Negotiation,
  negotiation,
  type Started,
  type StartOptions,
  startProgram,
} from '../../../connection/node/start.ts';
import { anyResult } from '../../../connection/results.ts';
import { AS_EXTENSION, keepWhole, othersOfProgress, wholeResult } from '../../../connection/whole-messages.ts';
import type { Log } from '../../../core/context.ts';
import { ResourceError } from '../../../core/errors.ts';
import { cleanText } from '../../../core/text/clean-text.ts';
import { VERSION } from '../../../core/version.ts';
import { MAX_DESCRIPTION_LENGTH } from '../border/described.ts';
import { type Introduction, introductionOf } from '../introduction.ts';
import { type HttpTarget, isStdio, type UpstreamOptions } from '../options.ts';
import { createSaid } from '../said.ts';
import { errorLog } from './error-log.ts';
import { cutOffError, upstreamError } from './faults.ts';
import { checkShape } from './shapes.ts';

export interface LinkFacts {
  readonly era: Era;
  readonly capabilities: ServerCapabilities;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly introduction: Introduction;
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

/** The era of an upstream as it was found out, kept so that the upstream is not asked each time. */
export interface Verdict {
  readonly prior: PriorDiscovery;
  readonly at: number;
}

/** The era as far as it is known before connecting. */
export interface Spoken {
  readonly verdict: Verdict | undefined;
  /** The one that is spoken where a program has both, and nothing is known. */
  readonly first?: Era | undefined;
}

/** A verdict is looked into again after this many milliseconds: servers are brought up to date. */
const VERDICT_MS = 60 * 60 * 1000;

/** Errors of one connection that are logged. */
const LOGGED = { burst: 100, perSecond: 1 } as const;

const isLate = (error: unknown): boolean => faultOf(error).kind === 'late';

const IDENTITY = { name: 'vitrine', version: VERSION };

export interface LinkLimits {
  /** For all of connecting, and for requests that are not a client's, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Log;
  /** Gives up connecting. */
  readonly signal?: AbortSignal | undefined;
}

type Target = Pick<UpstreamOptions, 'name' | 'target' | 'era' | 'clientInfo' | keyof IntakeLimits>;

/** Whatever a server says to a handshake, for the clients that wait it cannot be reached. */
function connectFault(error: unknown, name: string): unknown {
  const { kind, message } = faultOf(error);
  // It answers, but not to a handshake.
  if (kind !== 'unreachable' || message === '') return upstreamError(error, name);
  return new ResourceError('unavailable', `The server behind "${name}" refuses to be connected to`, { cause: error });
}

/** @throws ResourceError `unavailable`, `timeout` */
export async function openLink(
  options: Target,
  capabilities: Data,
  { verdict, first }: Spoken,
  events: LinkEvents,
  limits: LinkLimits,
): Promise<{ link: Link; verdict: Verdict }> {
  const { name, target, clientInfo } = options;
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
  function newClient(versionNegotiation: Negotiation): Client {
    ended = false;
    const client = new Client(
      { ...clientInfo, ...IDENTITY },
      {
        capabilities: capabilities as ClientCapabilities,
        versionNegotiation,
        inputRequired: { autoFulfill: false },
      },
    );
    client.onerror = (error) => {
      if (logged.take(1)) limits.log.debug('upstream', { mount: name, error });
      if (isGivenUp(error)) void client.close();
    };
    client.onclose = end;
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (!ended) events.notified(method, (params ?? {}) as Data);
    };
    client.fallbackRequestHandler = (request, ctx) => ask(request, ctx.mcpReq.signal) as never;
    return client;
  }
  async function ask(request: JSONRPCRequest, signal: AbortSignal): Promise<Data> {
    if (questions >= MAX_QUESTIONS) throw new Error(`There may be ${MAX_QUESTIONS} open questions; wait for an answer`);
    questions++;
    try {
      return await events.asked(request, signal);
    } finally {
      questions--;
    }
  }
  const prior = verdict !== undefined && Date.now() - verdict.at < VERDICT_MS ? verdict.prior : undefined;
  const dialing: StartOptions = {
    limits: options,
    timeoutMs: limits.timeoutMs,
    signal: limits.signal,
    prior,
    first,
    only: options.era === '2026' ? 'modern' : undefined,
    closing: end,
    cutOff(fault) {
      cutOff = cutOffError(fault, name);
      events.cutOff(cutOff);
    },
    threwAway(what, limit, most) {
      const outcome = what === 'answer' ? 'the request fails that it answers' : 'it is left out';
      limits.log.warn(`a message of a mounted server has too much in it: ${outcome}`, { mount: name, limit, most });
    },
  };
  async function overHttp(endpoint: HttpTarget): Promise<Started> {
    const client = newClient(negotiation(limits.timeoutMs, dialing.only));
    const stream: StreamEvents = {
      again() {
        if (!ended) events.missed();
      },
      ended() {
        // The transport opens it again by itself; whether there is still somebody to open it to is asked here.
        if (!ended) client.ping({ timeout: limits.timeoutMs }).catch(() => void client.close());
      },
    };
    const make = (intake: Intake): ConnectionTransport =>
      httpTransport({ ...endpoint, post: postMessage }, intake, stream);
    return { client, intake: await dial(client, make, dialing) };
  }
  const wrote = errorLog(name, limits.log, said);
  const connecting = isStdio(target)
    ? startProgram(newClient, (intake) => programTransport(target, intake, wrote), dialing)
    : overHttp(target);
  const { client, intake } = await connecting.catch((error: unknown) => {
    throw limits.signal?.aborted === true ? limits.signal.reason : connectFault(error, name);
  });
  const close = (): Promise<void> => client.close();
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
    introduction: introductionOf(server),
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
