/** Opens a connection to an upstream, in the era that the upstream speaks. Requests and results are as on the wire. */

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
  /** The server has sent a notification, other than one of a request's progress. It is given as it came. */
  notified(method: string, params: Data): void;
  /** A 2025-era server asks its client. @throws the client's refusal */
  asked(request: JSONRPCRequest, signal: AbortSignal): Promise<Data>;
  /** Notifications may have been missed; they arrive again from now on. */
  missed(): void;
  /** The server has exceeded a limit and is cut off, perhaps while it is being connected to. Called before `ended`. */
  cutOff(reason: ResourceError): void;
  /** The connection has ended. Called once, also after `close`. @param cutOff the reason if the server exceeded a limit */
  ended(cutOff: ResourceError | undefined): void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Asks for reports of progress and receives them. Each report restarts the time limit. */
  readonly onProgress?:
    | ((progress: number, total: number | undefined, message: string | undefined, others: Data | undefined) => void)
    | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Marks the log messages that arrive on the request's own stream, in their `_meta`. */
  readonly origin?: string | undefined;
}

export interface Link extends LinkFacts {
  /** @throws ResourceError; for an error answer of the server a `PeerError` */
  request(method: string, params: Data, options: RequestOptions): Promise<Data>;
  /** Opens a stream of notifications, in 2026-07-28. */
  listen(filter: SubscriptionFilter, options: RequestOptions): Promise<McpSubscription>;
  readonly ended: boolean;
  /** Pings the server. Closes the connection, and returns false, if the server does not answer and has nothing else to do. */
  alive(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** The era of an upstream, remembered so that it need not be found out for each connection. */
export interface Verdict {
  readonly prior: PriorDiscovery;
  /** The time when it was found out, in milliseconds since the epoch. */
  readonly at: number;
}

/** The era of the server, as far as it is known before connecting. */
export interface Spoken {
  readonly verdict: Verdict | undefined;
  /** The era to try first with a program of which nothing is known. */
  readonly first?: Era | undefined;
}

/** A verdict holds for this many milliseconds, because a server may be updated to another era. */
const VERDICT_MS = 60 * 60 * 1000;

/** How many errors of one connection are logged. */
const LOGGED = { burst: 100, perSecond: 1 } as const;

const isLate = (error: unknown): boolean => faultOf(error).kind === 'late';

const IDENTITY = { name: 'vitrine', version: VERSION };

export interface LinkLimits {
  /** The time limit for connecting, and for requests that no client has made, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Log;
  /** Aborts connecting. */
  readonly signal?: AbortSignal | undefined;
}

type Target = Pick<UpstreamOptions, 'name' | 'target' | 'era' | 'clientInfo' | keyof IntakeLimits>;

/** Makes the error for clients that wait for a connection. */
function connectFault(error: unknown, name: string): unknown {
  const { kind, message } = faultOf(error);
  // Only a server that answers without connecting is `unreachable` with a message.
  if (kind !== 'unreachable' || message === '') return upstreamError(error, name);
  return new ResourceError('unavailable', `The server behind "${name}" refuses to be connected to`, { cause: error });
}

/** Connects to an upstream. @throws ResourceError `unavailable`, `timeout`; the reason of the signal */
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
        // The transport reopens the stream by itself. This finds out whether the server is still there.
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
   * Finds out whether a server still answers after it has left a request without an answer, and closes the connection if not.
   * A server that is busy with an earlier request is left alone.
   * @param since the number of the request without an answer
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

/** Cleans the server's instructions, since models get them before anybody has asked for anything. */
const instructionsOf = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : cleanText(text, MAX_DESCRIPTION_LENGTH);
