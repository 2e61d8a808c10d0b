/**
 * Outcomes as they are sent. What is written already is not written again, and long texts go out in pieces. Until they are sent,
 * the memory of large ones counts (RES-7).
 */
import type { Admission } from '../../core/admission.ts';
import { LongText, withLongTexts } from '../../core/text/long-text.ts';
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts';
import { jsonOfMessage, type MessageId } from '../messages.ts';
import type { Outcome } from './envelope.ts';

/** A message in JSON: as it is, or one that is written in pieces. */
export type Answer = string | LongAnswer;

/** At most, of a long text. */
const PIECE_BYTES = 64 * 1024;

/** Characters of an answer that do not count. */
const FREE_CHARACTERS = 64 * 1024;

/** Of a client that does not take its answer, in milliseconds: after that it is the connection's business. */
const MAX_HOLD_MS = 30_000;

/** An answer with long texts in it. They lie in memory that is given back with `release`, once and by whoever has it last. */
export class LongAnswer {
  readonly #parts: readonly (string | LongText)[];

  constructor(parts: readonly (string | LongText)[]) {
    this.#parts = parts;
  }

  /** Of all pieces. */
  get bytes(): number {
    return this.#parts.reduce(
      (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.bytes),
      0,
    );
  }

  /** Bytes that nobody else counts as held in memory. */
  get uncounted(): number {
    return this.#parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.uncounted), 0);
  }

  /** Each piece is there until the next one is asked for: they are written into the same memory. */
  *pieces(): Iterable<Uint8Array> {
    const out = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (const part of this.#parts) {
      if (typeof part === 'string') yield Buffer.from(part);
      else yield* part.pieces(out);
    }
  }

  /** The same with something around it. */
  within(before: string, after: string): LongAnswer {
    return new LongAnswer([before, ...this.#parts, after]);
  }

  release(): void {
    for (const part of this.#parts) if (part instanceof LongText) part.release();
  }
}

/** The message that answers a request, in JSON; the answer to a result that JSON cannot say is an internal error. */
export function answerOf(id: MessageId, outcome: Outcome): Answer {
  if ('json' in outcome) return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${outcome.json}}`;
  if ('error' in outcome) return jsonOfMessage({ jsonrpc: '2.0', id, error: outcome.error });
  try {
    const parts = withLongTexts(() => jsonOfMessage({ jsonrpc: '2.0', id, result: outcome.result }));
    const [only] = parts;
    return parts.length === 1 && typeof only === 'string' ? only : new LongAnswer(parts);
  } catch {
    const error = { code: INTERNAL_ERROR, message: 'Internal error: the result cannot be written as JSON' };
    return JSON.stringify({ jsonrpc: '2.0', id, error });
  }
}

/** The answer in one piece, which takes over what it lies in. */
export function wholeText(answer: Answer): string {
  if (typeof answer === 'string') return answer;
  const whole = Buffer.allocUnsafe(answer.bytes);
  let at = 0;
  for (const piece of answer.pieces()) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  answer.release();
  return whole.toString('utf8');
}

/** Gives back what an answer lies in that nobody waits for any more. */
export function drop(id: MessageId, outcome: Outcome): void {
  const answer = answerOf(id, outcome);
  if (typeof answer !== 'string') answer.release();
}

/**
 * Counts a large answer as held in memory, until what is returned is called, which gives back what it lies in as well;
 * undefined for one that does not count.
 */
export function holdAnswer(admission: Admission, answer: Answer): (() => void) | undefined {
  if (typeof answer === 'string') return answer.length <= FREE_CHARACTERS ? undefined : hold(admission, answer.length);
  const release = answer.uncounted <= FREE_CHARACTERS ? undefined : hold(admission, answer.uncounted);
  return () => {
    release?.();
    answer.release();
  };
}

function hold(admission: Admission, characters: number): () => void {
  const release = admission.answer(characters);
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  return () => {
    clearTimeout(timer);
    release();
  };
}
