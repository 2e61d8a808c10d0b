/**
 * What a server may send over one connection: how long a message may be, how much may come that no request asked for, and
 * how much is handled before everybody else has a turn. A server that goes over a limit is cut off, once (SEC-RES-4).
 */
import { ResourceError } from '../../../core/errors.ts';
import { createAllowance } from './allowance.ts';

/** Bytes of one message: a line of a program, an event of a stream, a whole answer. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

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

/** Requests whose answers are awaited, late ones included. */
const MAX_AWAITED = 10_000;

/** Questions of a server that are open at a time; one more is refused. */
export const MAX_QUESTIONS = 100;

/** Bytes that wait until a program reads them. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** The code of the error that is put in the place of an answer that is too long. Never sent anywhere. */
export const OVER_LIMIT = -31_998;

export interface IntakeLimits {
  readonly maxMessageBytes?: number | undefined;
  readonly maxMessagesPerSecond?: number | undefined;
}

type Id = string | number;

export interface Intake {
  readonly maxMessageBytes: number;
  /** The server is connected to: from now on it may have something to say. */
  ready(): void;
  /** A request goes out: one answer to it is not counted. */
  sent(id: Id): void;
  /** Whether an answer to this request is still to come. */
  awaits(id: unknown): id is Id;
  /** Whether any is. */
  readonly awaitsAny: boolean;
  /**
   * Counts what has come. False where it is not to be handled: the server is cut off by then.
   * @param message undefined for what is none; @param length in bytes
   */
  take(message: unknown, length: number): boolean;
  /** An answer that is too long has come, and was thrown away. */
  refuse(id: Id): void;
  /** Uses up a part of this turn; resolves in the next one, where nothing of this one is left. */
  use(length: number): Promise<void> | undefined;
  /** Cuts the server off. @param why what it did, as the end of "it was cut off since it ..." */
  cut(why: string): void;
  /** Whether it was. */
  readonly over: boolean;
}

/** @param cutOff called once, with what to tell those who want something of the server */
export function createIntake(name: string, limits: IntakeLimits, cutOff: (reason: ResourceError) => void): Intake {
  const { maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES, maxMessagesPerSecond = DEFAULT_MAX_MESSAGES_PER_SECOND } =
    limits;
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

  function cut(why: string): void {
    if (over) return;
    over = true;
    cutOff(new ResourceError('unavailable', `The server behind "${name}" was cut off for a while, since it ${why}`));
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
    take(message, length) {
      if (over) return false;
      const id = answered(message);
      if (id !== undefined && awaited.delete(id)) return true;
      if (!ready && ++before > MAX_BEFORE_READY) cut(`sent ${before} messages before it was connected to`);
      // On a machine that is busy it is read slowly, and may still fill all that there is.
      else if (!messages.take(1) || ++withoutRest > maxAtOnce)
        cut(`sent more than ${maxMessagesPerSecond} messages a second that nobody asked for`);
      else if (!bytes.take(length)) cut('sent too many bytes that nobody asked for');
      return !over;
    },
    refuse: (id) => void awaited.delete(id),
    use(length) {
      used += 1 / MESSAGES_A_TURN + length / BYTES_A_TURN;
      turn ??= new Promise((resolve) => {
        setImmediate(() => {
          if (used < 1) withoutRest = 0;
          used = 0;
          turn = undefined;
          resolve();
        });
      });
      return used < 1 ? undefined : turn;
    },
    cut,
    get over() {
      return over;
    },
  };
}

/** The id in an answer; undefined for what is none. */
function answered(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || 'method' in message) return undefined;
  return 'id' in message && ('result' in message || 'error' in message) ? message.id : undefined;
}

/** An answer for a request whose own was too long. */
export const tooLongAnswer = (id: Id, maxBytes: number): object => ({
  jsonrpc: '2.0',
  id,
  error: { code: OVER_LIMIT, message: `The answer has more than ${maxBytes} bytes` },
});
