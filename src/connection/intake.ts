/**
 * Limits what a server sends over one connection: the length of a message and the values in it, messages that no request asked
 * for, and the work in one turn of the event loop (SEC-RES-4).
 */
import { giveWay } from '../core/breaks.ts';
import { excessOf, type JsonLimits } from '../core/text/json-text.ts';
import { createAllowance } from './allowance.ts';
import { ConnectionFault, type MessageLimit, OVER_LIMIT } from './faults.ts';

/** The most bytes of one message by default. A message is a line of a program, an event of a stream, or a whole answer. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * The most entries and fields in one message by default, counted before it is parsed. Parsing does not pause, and takes up to a
 * third of a microsecond for each of them. A page of 10,000 resources with icons and annotations has about this many.
 */
export const DEFAULT_MAX_MESSAGE_VALUES = 200_000;

/** The most levels in one message, so that parsing does not overflow the stack. Entries and results have lower limits later. */
export const MAX_MESSAGE_DEPTH = 4_000;

/**
 * The most messages in a second that no request asked for, by default: notifications, questions, answers to no request, and lines
 * that are no message.
 */
export const DEFAULT_MAX_MESSAGES_PER_SECOND = 1_000;

/** How many seconds' worth of such messages may come at once, since everything that is watched may change at the same moment. */
const BURST_SECONDS = 10;

/** How many such messages may come before the connection is made, since some programs print a greeting to standard output. */
const MAX_BEFORE_READY = 500;

/**
 * How many bytes such messages may have together: `burst` at once, or twice the longest message if that is more, and `perSecond`
 * later.
 */
const UNASKED_BYTES = { burst: 32 * 1024 * 1024, perSecond: 2 * 1024 * 1024 } as const;

/** The most messages, and bytes of messages, that one connection handles in one turn of the event loop. */
const MESSAGES_A_TURN = 32;
const BYTES_A_TURN = 256 * 1024;

/** If more than this part of a turn is used, `rest` puts further work off to the next turn. */
const HEAVY_USE = 0.5;

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

/** The id of a request. */
export type Id = string | number;

export interface Intake {
  readonly maxMessageBytes: number;
  /** The connection is made: from now on the server may send messages of its own. */
  ready(): void;
  /** A request goes out: one answer to it is not counted. */
  sent(id: Id): void;
  /** Whether an answer to this request is still to come. */
  awaits(id: unknown): id is Id;
  readonly awaitsAny: boolean;
  /**
   * Counts a message that has come. Returns false if it is not to be handled, because the server is cut off.
   * @param message undefined for a line that is no message; @param length in bytes
   */
  take(message: unknown, length: number): boolean;
  /** Returns the limit that a message goes over, before it is parsed. */
  excessOf(text: string): MessageLimit | undefined;
  /** Notes that an answer over a limit was thrown away. Returns the fault with which its request fails. */
  refuse(id: Id | undefined, limit: MessageLimit): ConnectionFault;
  /** Counts another message over a limit, which was thrown away too. Returns false if the server is cut off by now. */
  drop(limit: MessageLimit, length: number): boolean;
  /** The request was answered without a message, so none is awaited any more. */
  done(id: Id): void;
  /** Uses up a part of this turn. If nothing of it is left, returns a promise that resolves in the next turn. */
  use(length: number): Promise<void> | undefined;
  /** If much of this turn is used, returns a promise that resolves in the next one, so that a message is not handled in this one. */
  rest(): Promise<void> | undefined;
  /** Cuts the server off. @param why what the server did, as the end of "it was cut off since it ..." */
  cut(why: string): void;
  /** Whether the server is cut off. */
  readonly over: boolean;
}

export interface IntakeEvents {
  /** The server is cut off. Called once; the message of the fault says what the server did. */
  cutOff(fault: ConnectionFault): void;
  /**
   * A message was thrown away. Called once for each kind of message and each limit.
   * @param what `answer` if a request fails because of it, `other` if the message is only left out; @param most the limit
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
  /** Messages that no request asked for, since the last turn that was not used up. */
  let withoutRest = 0;
  let over = false;
  let used = 0;
  let turn: Promise<void> | undefined;
  const reported = new Set<string>();

  function threwAway(what: 'answer' | 'other', limit: MessageLimit): void {
    if (reported.has(what + limit)) return;
    reported.add(what + limit);
    events.threwAway?.(what, limit, { bytes: maxMessageBytes, ...inMessage }[limit]);
  }

  function take(message: unknown, length: number): boolean {
    if (over) return false;
    const id = answerTo(message);
    if (id !== undefined && awaited.delete(id)) return true;
    if (!ready && isHandshake(message)) cut('repeats what it is sent: it is no MCP server');
    else if (!ready && ++before > MAX_BEFORE_READY) cut(`sent ${before} messages before it was connected to`);
    // A busy machine reads slowly, so that the rate alone would not stop a server that fills every turn.
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
    rest: () => (used < HEAVY_USE ? undefined : turn),
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

/** Returns the id in an answer; undefined for any other message. */
export function answerTo(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || 'method' in message) return undefined;
  return 'id' in message && ('result' in message || 'error' in message) ? message.id : undefined;
}

/** Makes an error for a request whose own answer went over a limit. */
export const overLimitAnswer = (id: Id, limit: MessageLimit): object => ({
  jsonrpc: '2.0',
  id,
  error: { code: OVER_LIMIT, message: 'The answer goes over a limit', data: { limit } },
});
