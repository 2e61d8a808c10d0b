/** An answer as it came over HTTP, and the code that reads it piece by piece. */
import { within } from '../../e2e/waiting.ts';

export type Header = readonly [name: string, value: string];

export interface Answer {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  /** Names in lower case, sorted, without headers of the connection and the time. */
  readonly headers: readonly Header[];
  readonly body: string;
  /** Whether it was aborted before its end. */
  readonly open: boolean;
}

/** One running request. */
export interface Exchange {
  /** The whole answer, or the part before the abort. */
  readonly answer: Promise<Answer>;
  /** Resolves when the head and that many events have come, or the answer has ended. */
  arrived(events: number): Promise<void>;
  /** Aborts the rest. */
  hangUp(): void;
}

/** A raw request over HTTP. */
export interface RawHttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly Header[];
  readonly body: Buffer | undefined;
}

/** @param onEvent is called with the data of each event of a stream */
export type HttpWire = (asked: RawHttpRequest, onEvent?: (data: string) => void) => Exchange;

const UNSAID: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive']);

export const headersOf = (given: Iterable<readonly [string, string]>): readonly Header[] =>
  [...given]
    .map(([name, value]): Header => [name.toLowerCase(), value])
    .filter(([name]) => !UNSAID.has(name))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

/** The data of each complete event of a stream, without comments. */
export const eventsIn = (body: string): readonly string[] =>
  body
    .split('\n\n')
    .slice(0, -1)
    .flatMap((event) => event.split('\n').find((line) => line.startsWith('data:')) ?? [])
    .map((line) => line.replace(/^data: ?/, ''));

/** Reads an answer while it comes. */
export interface Receiver extends Pick<Exchange, 'answer' | 'arrived'> {
  /** Takes the head, and everything of the body that has come so far. */
  update(head: Pick<Answer, 'status' | 'headers'>, body: string): void;
  end(open: boolean): void;
}

export function createReceiver(what: string, onEvent: (data: string) => void = () => {}): Receiver {
  let head: Pick<Answer, 'status' | 'headers'> | undefined;
  let body = '';
  let told = 0;
  let ended = false;
  const waiting = new Set<() => void>();
  let resolve = (_answer: Answer): void => {};
  const answer = new Promise<Answer>((settle) => {
    resolve = settle;
  });
  const check = (): void => {
    for (const each of [...waiting]) each();
  };
  return {
    answer: within(answer, `the answer to ${what}`),
    update(givenHead, givenBody) {
      head = givenHead;
      body = givenBody;
      for (const data of eventsIn(body).slice(told)) {
        told++;
        onEvent(data);
      }
      check();
    },
    end(open) {
      if (ended) return;
      ended = true;
      resolve({ status: 0, headers: [], ...head, body, open });
      check();
    },
    arrived(events) {
      const come = new Promise<void>((settle) => {
        const look = (): void => {
          if (!ended && (head === undefined || told < events)) return;
          waiting.delete(look);
          settle();
        };
        waiting.add(look);
        look();
      });
      return within(come, `${events} events of the answer to ${what}`);
    },
  };
}
