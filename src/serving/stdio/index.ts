/** Serves one host over standard input and output, in the era that the host speaks. */
import type { Readable, Writable } from 'node:stream';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { ANONYMOUS, type ClientFeatures, type Log, SILENT } from '../../core/context.ts';
import type { Engine } from '../../engine/index.ts';
import { claimOf, type Problem, unsupported } from '../claim.ts';
import { isTooDeep, MAX_DEPTH } from '../depth.ts';
import { answerOf } from '../dispatch/answer.ts';
import { createDispatcher, NO_SUCH_METHOD } from '../dispatch/dispatcher.ts';
import type { Outcome } from '../dispatch/envelope.ts';
import { REVISION } from '../dispatch/standing-alone.ts';
import { asMessage, isNotification, isRequest, type Message, metaOf, type RequestMessage } from '../messages.ts';
import { Peer } from '../peer/peer.ts';
import { readLines } from './lines.ts';
import { createModernConnection, type ModernConnection, NO_ENVELOPE } from './modern.ts';
import { answerToUnread } from './unread.ts';
import { createLineWriter } from './write-lines.ts';

export interface ServeStdioOptions {
  readonly log?: Log | undefined;
  /** The stream of messages from the host. Default: standard input of this process. */
  readonly input?: Readable | undefined;
  /** The stream of messages to the host. Default: standard output of this process. */
  readonly output?: Writable | undefined;
  /**
   * Called once with the features of the host, for example to start a mounted program that only this host will use
   * (`UpstreamOptions.sole`). The answer to the host's first request waits for the promise, which must not reject.
   */
  readonly introduced?: ((host: ClientFeatures) => Promise<void>) | undefined;
}

export interface StdioServing {
  /** Resolves when the connection has ended completely, after the host has closed its end or `close` was called. */
  readonly closed: Promise<void>;
  /** Ends the connection. The engine stays open: it belongs to the caller. */
  close(): Promise<void>;
}

/** How long answers are still written after the input has ended, in milliseconds: a host may close its output and read on. */
const GRACE_MS = 5_000;

/** Serves the engine to the process at the other end of standard input and output. Logs never go there. */
export function serveStdio(engine: Engine, options: ServeStdioOptions = {}): StdioServing {
  const { log = SILENT, introduced: introduce } = options;
  const output = options.output ?? process.stdout;
  const dispatcher = createDispatcher(engine);
  /** The connection in 2026-07-28. A host may try that revision first, and then speak 2025. */
  let modern: ModernConnection | undefined;
  /** The client, if it speaks 2025. */
  let peer: Peer | undefined;
  /** Whether the host may still choose the 2025 era. */
  let probing = true;
  let introducing: Promise<void> | undefined;
  /** The number of 2025-era requests that have not been answered. */
  let unanswered = 0;
  /** Resolves when the next message may be handled; undefined if that is now. */
  let queue: Promise<void> | undefined;
  let ended = false;
  let closing: Promise<void> | undefined;
  let grace: NodeJS.Timeout | undefined;

  const lines = createLineWriter(output, whenIdle);
  const { write } = lines;
  const send = (message: object): void => write(JSON.stringify(message));

  /** Introduces the host only once, even if it tries one era and then speaks the other. */
  const introduced = introduce && ((host: ClientFeatures): Promise<void> => (introducing ??= introduce(host)));

  const offers = (method: string): boolean => STANDING.has(method) || dispatcher.offers(method, ANONYMOUS);

  const idle = (): boolean =>
    unanswered === 0 && (modern?.unanswered ?? 0) === 0 && queue === undefined && lines.rest === undefined;

  /** Ends the connection once every request has been answered, after the input has ended. */
  function whenIdle(): void {
    if (ended && idle()) void close(false);
  }

  function modernConnection(): ModernConnection {
    modern ??= createModernConnection({ engine, dispatcher, log, write, answered: whenIdle, introduced });
    return modern;
  }

  function inLegacy(message: Message): void {
    peer ??= new Peer({
      engine,
      dispatcher,
      log,
      principal: ANONYMOUS,
      transport: 'pipe',
      tell: send,
      introduced,
    });
    if (isRequest(message)) {
      unanswered++;
      void peer.request(message, { principal: ANONYMOUS, send }).then((answer) => {
        unanswered--;
        if (answer !== undefined) write(answer);
        whenIdle();
      });
    } else if (isNotification(message)) peer.notification(message);
    else peer.response(message);
  }

  const refuse = ({ id }: RequestMessage, { code, message, data }: Problem): void =>
    write(answerOf(id, { error: { code, message, ...(data !== undefined && { data: data as object }) } } as Outcome));

  /** Handles a message. @returns a promise if the next messages have to wait for it */
  function take(message: Message): Promise<void> | undefined {
    if (peer !== undefined) {
      inLegacy(message);
      return undefined;
    }
    if (!isRequest(message)) {
      if (!isNotification(message)) return undefined;
      if (probing && claimOf(message).kind === 'legacy') return toLegacy(message);
      modern?.notification(message);
      return undefined;
    }
    const claim = claimOf(message);
    if (claim.kind === 'refused') {
      refuse(message, claim.problem);
      return undefined;
    }
    if (claim.kind === 'legacy') {
      if (probing) return toLegacy(message);
      const { protocolVersion } = message.params ?? {};
      if (message.method !== 'initialize')
        write(answerOf(message.id, offers(message.method) ? NO_ENVELOPE : NO_SUCH_METHOD));
      else refuse(message, typeof protocolVersion === 'string' ? unsupported(protocolVersion) : UNNAMED);
      return undefined;
    }
    if (message.method !== 'server/discover') probing = false;
    return modernConnection().request(message);
  }

  /** Changes to the 2025 era, for a host that may have tried 2026-07-28 first. */
  function toLegacy(message: Message): Promise<void> | undefined {
    const tried = modern;
    modern = undefined;
    inLegacy(message);
    return tried?.close(false);
  }

  function receive(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return;
    }
    const message = asMessage(value);
    if (message === undefined) {
      const answer = answerToUnread(value);
      if (answer === undefined) log.debug('stdio: a line that is no message');
      else send(answer);
    } else if (isTooDeep(message, MAX_DEPTH)) {
      if (isRequest(message)) refuse(message, TOO_DEEP);
      else log.debug('stdio: a message is nested too deep');
    } else if (isRequest(message) && asksForAnother(message)) {
      refuse(message, unsupported(String(metaOf(message)[PROTOCOL_VERSION_META_KEY])));
    } else if (queue === undefined) {
      wait(take(message));
    } else {
      // Messages that still wait when the connection ends are not handled.
      wait(queue.then(() => (closing === undefined ? take(message) : undefined)));
    }
  }

  /** Holds the next messages back until a promise has settled. */
  function wait(until: Promise<void> | undefined): void {
    if (until === undefined) return;
    const turn: Promise<void> = until
      .catch((error: unknown) => log.debug('stdio', { error }))
      .finally(() => {
        if (queue !== turn) return;
        queue = undefined;
        whenIdle();
      });
    queue = turn;
  }

  const countEnd = engine.telemetry?.opened('session', 'pipe');
  let setClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    setClosed = resolve;
  });

  function close(goodbye: boolean): Promise<void> {
    closing ??= (async () => {
      clearTimeout(grace);
      release();
      output.off('error', broken);
      // Later errors of the output are ignored.
      output.on('error', () => {});
      countEnd?.();
      await modern?.close(goodbye);
      await peer?.close(goodbye);
      // Writes the rest, because the host cannot use half a line. A host that does not read gets a limited time.
      await Promise.race([lines.rest, passed(GRACE_MS)]);
      setClosed();
    })();
    return closing;
  }

  const broken = (error: Error): void => {
    log.debug('stdio', { error });
    void close(false);
  };
  output.on('error', broken);
  const release = readLines(options.input ?? process.stdin, {
    line: receive,
    end(error) {
      if (error !== undefined) return broken(error);
      ended = true;
      // The time begins only after the introduction, because answers wait for it.
      void Promise.resolve(introducing).then(() => {
        if (closing === undefined) grace = setTimeout(() => void close(false), GRACE_MS);
      });
      whenIdle();
    },
  });

  return {
    closed,
    async close() {
      await close(true);
      await closed;
    },
  };
}

const passed = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

/** The methods that every connection of 2026-07-28 answers. */
const STANDING: ReadonlySet<string> = new Set(['server/discover', 'subscriptions/listen']);

const TOO_DEEP: Problem = { code: -32_600, message: `A message is nested at most ${MAX_DEPTH} levels deep` };

const UNNAMED: Problem = {
  code: -32_022,
  message: 'Unsupported protocol version: the request did not name a protocol version',
  data: { supported: [REVISION] },
};

/** Whether a request names a revision other than 2026-07-28 in its `_meta`. */
function asksForAnother(message: RequestMessage): boolean {
  const requested = metaOf(message)[PROTOCOL_VERSION_META_KEY];
  return message.method !== 'initialize' && typeof requested === 'string' && requested !== REVISION;
}
