/**
 * Limits what a server sends over one connection: how long a message may be and how much may be in it, how much may come
 * that no request asked for, and how much is handled before everybody else has a turn (SEC-RES-4).
 */
import { giveWay } from '../core/breaks.ts';
import { excessOf, type JsonLimits } from '../core/text/json-text.ts';
import { createAllowance } from './allowance.ts';
import { ConnectionFault, type MessageLimit, OVER_LIMIT } from './faults.ts';

/** Bytes of one message: a line of a program, an event of a stream, a whole answer. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * Entries and fields in one message, counted before it is parsed. Parsing does not pause, and takes up to a third of a
 * microsecond for each. A page of 10,000 resources with icons and annotations has as many.
 */
export const DEFAULT_MAX_MESSAGE_VALUES = 200_000;

/** The most levels in one message. An entry or a result has its own limit at the border, which is lower; here it is the stack. */
export const MAX_MESSAGE_DEPTH = 4_000;

/** Messages that no request asked for, in a second: notifications, questions, answers to nothing, and what is no message. */
export const DEFAULT_MAX_MESSAGES_PER_SECOND = 1_000;

/** Seconds' worth of them that may come at once: everything that is watched may change at the same moment. */
const BURST_SECONDS = 10;

/** Of them, those that may come before the server is connected to: some programs greet on their standard output. */
const MAX_BEFORE_READY = 500;

/** Bytes of them: as many at once, or two of the longest messages, and as many more in a second. */
const UNASKED_BYTES = { burst: 32 * 1024 * 1024, perSecond: 2 * 1024 * 1024 } as const;

/** Messages, and bytes of messages, that one connection has handled in one turn of the event loop. */
const MESSAGES_A_TURN = 32;
const BYTES_A_TURN = 256 * 1024;

/** The part of a turn's messages or bytes after which the rest of the work is for the next one. */
const MUCH = 0.5;

/** The most requests whose answers are awaited, late ones included. */
const MAX_AWAITED = 10_000;

/** The most questions of a server that are open at a time; one more is refused. */
export const MAX_QUESTIONS = 100;

/** The most bytes that wait until a program reads them. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

export interface IntakeLimits {
  readonly maxMessageBytes?: number | undefined;
  readonly maxMessageValues?: number | undefined;
  readonly maxMessagesPerSecond?: number | undefined;
}

/** Of a request. */
export type Id = string | number;

export interface Intake {
  readonly maxMessageBytes: number;
  /** The server is connected to: from now on it may have something to say. */
  ready(): void;
  /** A request goes out: one answer to it is not counted. */
  sent(id: Id): void;
  /** Whether an answer to this request is still to come. */
  awaits(id: unknown): id is Id;
  readonly awaitsAny: boolean;
  /**
   * Counts what has come. False where it is not to be handled: the server is cut off by then.
   * @param message undefined for what is none; @param length in bytes
   */
  take(message: unknown, length: number): boolean;
  /** Which limit a message goes over, looked at before it is parsed. */
  excessOf(text: string): MessageLimit | undefined;
  /** An answer that goes over a limit has come, and was thrown away. Gives what its request fails with. */
  refuse(id: Id | undefined, limit: MessageLimit): ConnectionFault;
  /** The same of what is no answer. False where the server is cut off by now: it counts as what nobody asked for. */
  drop(limit: MessageLimit, length: number): boolean;
  /** An answer has come that says nothing. */
  done(id: Id): void;
  /** Uses up a part of this turn; resolves in the next one, where nothing of this one is left. */
  use(length: number): Promise<void> | undefined;
  /** Resolves in the next turn where what has come in this one was much: its parsing was one piece, its handling is another. */
  rest(): Promise<void> | undefined;
  /** Cuts the server off. @param why what it did, as the end of "it was cut off since it ..." */
  cut(why: string): void;
  /** Whether it was. */
  readonly over: boolean;
}

export interface IntakeEvents {
  /** The server is cut off. Told once, with a fault whose message is what it did. */
  cutOff(fault: ConnectionFault): void;
  /**
   * A message was thrown away. Told once for each kind of message and each limit.
   * @param what the request that the message answers fails, or the message is left out; @param most the limit
   */
  threwAway?(what: 'answer' | 'other', limit: MessageLimit, most: number): void;
}

export function createIntake(limits: IntakeLimits, events: IntakeEvents): Intake {
  const {
    maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES,
    maxMessageValues = DEFAULT_MAX_MESSAGE_VALUES,
    maxMessagesPerSecond = DEFAULT_MAX_MESSAGES_PER_SECOND,
  } = limits;
  const inMessage: JsonLimits = { values: maxMessageValues, depth: MAX_MESSAGE_DEPTH };
  const maxAtOnce = BURST_SECONDS * maxMessagesPerSecond;
  const messages = createAllowance({ burst: maxAtOnce, perSecond: maxMessagesPerSecond });
  const { burst, perSecond } = UNASKED_BYTES;
  const bytes = createAllowance({ burst: Math.max(burst, 2 * maxMessageBytes), perSecond });
  const awaited = new Set<unknown>();
  let ready = false;
  let before = 0;
  /** Messages that nobody asked for since there was a turn in which not all came that may come. */
  let withoutRest = 0;
  let over = false;
  let used = 0;
  let turn: Promise<void> | undefined;
  const told = new Set<string>();

  function threwAway(what: 'answer' | 'other', limit: MessageLimit): void {
    if (told.has(what + limit)) return;
    told.add(what + limit);
    events.threwAway?.(what, limit, { bytes: maxMessageBytes, ...inMessage }[limit]);
  }

  function take(message: unknown, length: number): boolean {
    if (over) return false;
    const id = answerTo(message);
    if (id !== undefined && awaited.delete(id)) return true;
    if (!ready && isHandshake(message)) cut('repeats what it is sent: it is no MCP server');
    else if (!ready && ++before > MAX_BEFORE_READY) cut(`sent ${before} messages before it was connected to`);
    // On a machine that is busy it is read slowly, and may still fill all that there is.
    else if (!messages.take(1) || ++withoutRest > maxAtOnce)
      cut(`sent more than ${maxMessagesPerSecond} messages a second that nobody asked for`);
    else if (!bytes.take(length)) cut('sent too many bytes that nobody asked for');
    return !over;
  }

  function cut(why: string): void {
    if (over) return;
    over = true;
    events.cutOff(new ConnectionFault('cut-off', why));
  }

  return {
    maxMessageBytes,
    ready() {
      ready = true;
    },
    sent(id) {
      awaited.add(id);
      if (awaited.size <= MAX_AWAITED) return;
      for (const oldest of awaited) {
        awaited.delete(oldest);
        break;
      }
    },
    awaits: (id): id is Id => awaited.has(id),
    get awaitsAny() {
      return awaited.size > 0;
    },
    take,
    excessOf: (text) => excessOf(text, inMessage),
    refuse(id, limit) {
      awaited.delete(id);
      threwAway('answer', limit);
      return new ConnectionFault('too-large', '', { limit });
    },
    drop(limit, length) {
      threwAway('other', limit);
      return take(undefined, length);
    },
    done: (id) => void awaited.delete(id),
    use(length) {
      used += 1 / MESSAGES_A_TURN + length / BYTES_A_TURN;
      turn ??= giveWay().then(() => {
        if (used < 1) withoutRest = 0;
        used = 0;
        turn = undefined;
      });
      return used < 1 ? undefined : turn;
    },
    rest: () => (used < MUCH ? undefined : turn),
    cut,
    get over() {
      return over;
    },
  };
}

/** Methods of requests that only clients send. */
const HANDSHAKES: ReadonlySet<unknown> = new Set(['server/discover', 'initialize']);

const isHandshake = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'method' in message && HANDSHAKES.has(message.method);

/** The id in an answer; undefined for what is none. */
export function answerTo(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || 'method' in message) return undefined;
  return 'id' in message && ('result' in message || 'error' in message) ? message.id : undefined;
}

/** An answer for a request whose own went over a limit. */
export const overLimitAnswer = (id: Id, limit: MessageLimit): object => ({
  jsonrpc: '2.0',
  id,
  error: { code: OVER_LIMIT, message: 'The answer goes over a limit', data: { limit } },
});
