/** One session of the 2025 era over HTTP: its POST requests, its GET stream, and reconnection. */
import { setImmediate } from 'node:timers/promises';
import { isInitializeRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { Admission } from '../../core/admission.ts';
import type { Principal } from '../../core/context.ts';
import { mendedHandshake } from '../../protocol/implementation.ts';
import { ANSWER_GRACE_MS, type Expiry } from '../auth/expiry.ts';
import { type Answer, holdAnswer, wholeText } from '../dispatch/answer.ts';
import { EVENT_HEADERS, type EventStream, type EventStreams, frameOf } from '../http/events.ts';
import { type HttpAnswer, type HttpRequest, refusal } from '../http/exchange.ts';
import { asMessage, type Message, type RequestMessage } from '../messages.ts';
import type { Way } from '../peer/options.ts';
import type { Peer } from '../peer/peer.ts';
import { DEFAULT_RESUMPTION, keepEvents, type ResumptionOptions, type SentEvents } from './resumption.ts';
import type { SharedSession } from './shared.ts';

/** The stream that the client opens with GET. */
const STANDALONE = '_GET_stream';

/** The first revision whose clients understand an event without data. */
const PRIMING_SINCE = '2025-11-25';

/** The revision assumed for a client that names none. */
const UNNAMED_REVISION = '2025-03-26';

/** A named stream that may continue over several connections in turn. */
interface Channel {
  /** The connection that is open now. */
  stream: EventStream | undefined;
  /** The number of requests still to be answered on it. */
  pending: number;
}

export interface SessionOptions {
  readonly id: string;
  /** Makes the peer, which calls `tell` to send the client messages outside of any request. */
  readonly peer: (tell: (message: object) => void) => Peer;
  readonly streams: EventStreams;
  readonly expiry: Expiry;
  readonly admission: Admission;
  readonly resume: ResumptionOptions | undefined;
  /** The session as replicas share it; with `resumed` it began in another replica. */
  readonly shared?: SharedSession | undefined;
  readonly resumed?: boolean | undefined;
  /** Called when the client has ended the session at another replica. */
  readonly ended?: (() => void) | undefined;
}

export class Session {
  readonly id: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #streams: EventStreams;
  readonly #expiry: Expiry;
  readonly #admission: Admission;
  readonly #resume: ResumptionOptions | undefined;
  readonly #kept: SentEvents | undefined;
  readonly #peer: Peer;
  readonly #shared: SharedSession | undefined;
  /** Whether a client that listens may have missed messages. */
  #missed: boolean;
  #channels: Map<string, Channel> | undefined;
  #posts = 0;
  #initialized: boolean;
  #closed = false;

  constructor({ id, streams, expiry, admission, resume, peer, shared, resumed = false, ended }: SessionOptions) {
    this.id = id;
    this.#headers = { ...EVENT_HEADERS, 'mcp-session-id': id };
    this.#streams = streams;
    this.#expiry = expiry;
    this.#admission = admission;
    this.#resume = resume;
    // A client may reconnect to another replica, which does not have these events.
    this.#kept = shared === undefined && resume !== undefined ? keepEvents(resume) : undefined;
    this.#shared = shared;
    this.#initialized = resumed;
    this.#missed = resumed;
    this.#peer = peer((message) => {
      const json = JSON.stringify(message);
      const event = this.#kept?.add(STANDALONE, json);
      if (this.#standalone === undefined) shared?.tell(message);
      this.#standalone?.write(frameOf(json, event));
    });
    shared?.join({
      ...this.#peer.heard,
      said: (message) => this.#take(message),
      tell: (message) => this.#standalone?.write(frameOf(JSON.stringify(message))),
      ended: () => ended?.(),
    });
  }

  /** Whether the client holds the GET stream open. */
  get listening(): boolean {
    return this.#standalone !== undefined;
  }

  /** Whether a request is being answered, or the client holds a stream open. */
  get inUse(): boolean {
    return this.#channels !== undefined && this.#channels.size > 0;
  }

  post(http: HttpRequest, body: unknown, principal: Principal): Promise<HttpAnswer> | HttpAnswer {
    const messages = (Array.isArray(body) ? body : [body]).map(asMessage);
    const requests = messages.filter(
      (each): each is RequestMessage => each !== undefined && 'id' in each && 'method' in each,
    );
    // An error with this id would be taken for the answer to the other request.
    if (
      new Set(requests.map(({ id }) => id)).size < requests.length ||
      requests.some(({ id }) => this.#peer.answers(id))
    )
      return refusal(400, -32_600, 'The id of a request is in use in this session');
    const accept = http.headers.get('accept');
    if (!accept?.includes('application/json') || !accept.includes('text/event-stream'))
      return refusal(406, -32_000, 'Not Acceptable: Client must accept both application/json and text/event-stream');
    if (!messages.every((each): each is Message => each !== undefined))
      return refusal(400, -32_700, 'Parse error: Invalid JSON-RPC message');
    if (this.#closed) return NOT_FOUND;
    const handshake = requests.find(isHandshake);
    if (handshake === undefined) {
      if (!this.#initialized) return refusal(400, -32_000, 'Bad Request: Server not initialized');
      const problem = revisionProblem(http);
      if (problem !== undefined) return problem;
    } else {
      if (this.#initialized) return refusal(400, -32_600, 'Invalid Request: Server already initialized');
      if (messages.length > 1)
        return refusal(400, -32_600, 'Invalid Request: Only one initialization request is allowed');
      this.#initialized = true;
    }
    for (const message of messages) if (!this.#take(message)) this.#shared?.said(message);
    if (requests.length === 0) return { status: 202 };
    const known = this.#kept === undefined ? this.#atOnce(requests, principal) : undefined;
    if (known !== undefined) return known;
    const named = handshake?.params?.protocolVersion ?? http.headers.get('mcp-protocol-version') ?? UNNAMED_REVISION;
    return this.#answer(requests, http, principal, String(named));
  }

  /** Opens the session's stream, or continues one that broke off. @param ended called when the stream has ended */
  open(http: HttpRequest, ended: () => void): HttpAnswer {
    if (!http.headers.get('accept')?.includes('text/event-stream'))
      return refusal(406, -32_000, 'Not Acceptable: Client must accept text/event-stream');
    const problem = revisionProblem(http);
    if (problem !== undefined) return problem;
    // The session may have ended while it was taken over from another replica. Nothing would end its stream any more.
    if (this.#closed) return NOT_FOUND;
    const last = http.headers.get('last-event-id');
    if (this.#kept !== undefined && last !== null && last !== '') return this.#again(this.#kept, last, ended);
    if (this.#standalone !== undefined)
      return refusal(409, -32_000, 'Conflict: Only one SSE stream is allowed per session');
    const stream = this.#connect(STANDALONE, this.#channel(STANDALONE, 0), 0);
    stream.onEnd(() => {
      this.#peer.rests();
      ended();
    });
    this.#peer.listens(this.#missed);
    this.#missed = true;
    http.forget?.();
    return { status: 200, headers: this.#headers, body: stream };
  }

  /** Ends streams and requests. @param goodbye whether running requests get an answer that says that the server ends */
  async close(goodbye: boolean): Promise<void> {
    this.#closed = true;
    const closed = this.#peer.close(goodbye);
    // Lets the answers of the requests go out first.
    if (goodbye) await setImmediate();
    for (const { stream } of [...(this.#channels?.values() ?? [])]) stream?.end();
    await closed;
  }

  /** Handles a notification or a response; leaves a request to the caller. @returns false if another replica may wait for it */
  #take(message: Message): boolean {
    if (!('method' in message)) return this.#peer.response(message);
    return 'id' in message || this.#peer.notification(message);
  }

  /** The stream that the client opened with GET. */
  get #standalone(): EventStream | undefined {
    return this.#channels?.get(STANDALONE)?.stream;
  }

  /** Makes a new channel, and replaces the one of that name. */
  #channel(name: string, pending: number): Channel {
    const channel: Channel = { stream: undefined, pending };
    this.#channels ??= new Map();
    this.#channels.set(name, channel);
    return channel;
  }

  /** Connects a new stream to a channel. */
  #connect(name: string, channel: Channel, graceMs: number): EventStream {
    const stream = this.#streams.open();
    channel.stream = stream;
    const forget = this.#expiry.never ? undefined : this.#expiry.onEnd(() => stream.end(), graceMs);
    stream.onEnd(() => {
      forget?.();
      if (channel.stream === stream) channel.stream = undefined;
      if (channel.pending === 0 && this.#channels?.get(name) === channel) this.#channels.delete(name);
    });
    return stream;
  }

  /** Makes an answer without notifications. */
  #single(body: Answer): HttpAnswer {
    return { status: 200, headers: this.#headers, body, sent: holdAnswer(this.#admission, body) };
  }

  /** Answers the requests of one POST on one stream. */
  #answer(requests: readonly RequestMessage[], http: HttpRequest, principal: Principal, revision: string) {
    return new Promise<HttpAnswer>((resolve) => {
      const name = `${++this.#posts}`;
      const channel = this.#channel(name, requests.length);
      const kept = this.#kept;
      const comesBack = kept !== undefined && revision >= PRIMING_SINCE;
      let opened = false;
      const open = (): void => {
        if (opened) return;
        opened = true;
        resolve({ status: 200, headers: this.#headers, body: this.#connect(name, channel, ANSWER_GRACE_MS) });
      };
      const notLate = this.#streams.late(open);
      const write = (json: string): void => {
        open();
        const event = kept?.add(name, json);
        channel.stream?.write(frameOf(json, event));
      };
      const way: Way = {
        principal,
        headers: http.headers,
        send: (message) => write(JSON.stringify(message)),
        hangUp: comesBack ? () => channel.stream?.end() : undefined,
      };
      if (comesBack) {
        open();
        const retry = this.#resume?.retryMs ?? DEFAULT_RESUMPTION.retryMs;
        channel.stream?.write(`id: ${kept.add(name, '')}\nretry: ${retry}\ndata: \n\n`);
      }
      const answered = (reply: Answer | undefined): void => {
        channel.pending--;
        const last = channel.pending === 0;
        if (last) notLate();
        if (reply !== undefined && last && !opened) {
          this.#channels?.delete(name);
          resolve(this.#single(kept === undefined ? framed(reply) : keptFrame(kept, name, wholeText(reply))));
          return;
        }
        if (reply !== undefined) write(wholeText(reply));
        if (!last) return;
        open();
        channel.stream?.end();
        this.#channels?.delete(name);
      };
      for (const request of requests) void this.#peer.request(request, way).then(answered);
    });
  }

  /** Returns the answer to a single request where it is known at once, so that it needs no channel. */
  #atOnce([request, ...more]: readonly RequestMessage[], principal: Principal): HttpAnswer | undefined {
    const reply = request && more.length === 0 ? this.#peer.again(request, principal) : undefined;
    return reply === undefined ? undefined : this.#single(framed(reply));
  }

  #again(kept: SentEvents, event: string, ended: () => void): HttpAnswer {
    const name = kept.streamOf(event);
    if (name === undefined) return refusal(400, -32_000, 'Invalid event ID format');
    const known = this.#channels?.get(name);
    if (known?.stream !== undefined) return refusal(409, -32_000, 'Conflict: Stream already has an active connection');
    const missed = kept.after(event);
    const channel = known ?? (name === STANDALONE ? this.#channel(name, 0) : { stream: undefined, pending: 0 });
    const stream = this.#connect(name, channel, 0);
    stream.onEnd(ended);
    for (const [eventId, json] of missed) stream.write(frameOf(json, eventId));
    // All answers on this stream have been sent.
    if (name !== STANDALONE && channel.pending === 0) stream.end();
    return { status: 200, headers: this.#headers, body: stream };
  }
}

const framed = (answer: Answer): Answer =>
  typeof answer === 'string' ? frameOf(answer) : answer.within('event: message\ndata: ', '\n\n');

const keptFrame = (kept: SentEvents, name: string, json: string): string => frameOf(json, kept.add(name, json));

export const NOT_FOUND: HttpAnswer = refusal(404, -32_001, 'Session not found');

/** Refuses a request that names a revision outside this era. */
export function revisionProblem({ headers }: Pick<HttpRequest, 'headers'>): HttpAnswer | undefined {
  const revision = headers.get('mcp-protocol-version');
  if (revision === null || SUPPORTED_PROTOCOL_VERSIONS.includes(revision)) return undefined;
  const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  return refusal(
    400,
    -32_000,
    `Bad Request: Unsupported protocol version: ${revision} (supported versions: ${supported})`,
  );
}

/** Whether a request begins a session, by the SDK's schemas; the client's icons are repaired before. */
const isHandshake = (message: RequestMessage): boolean =>
  message.method === 'initialize' && isInitializeRequest({ ...message, params: mendedHandshake(message.params) });
