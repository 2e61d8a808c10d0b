/**
 * Makes the JSON messages that answer requests. JSON that exists already is not written again, and long texts are sent in pieces.
 * The memory of a large answer is counted until the answer is sent (RES-7).
 */
import type { Admission } from '../../core/admission.ts';
import { LongText, withLongTexts } from '../../core/text/long-text.ts';
import { INTERNAL_ERROR } from '../../protocol/error-codes.ts';
import { jsonOfMessage, type MessageId } from '../messages.ts';
import type { Outcome } from './envelope.ts';

/** A message in JSON: a string, or an object that writes the message in pieces. */
export type Answer = string | LongAnswer;

/** The most bytes of one piece of a long text. */
const PIECE_BYTES = 64 * 1024;

/** The memory of an answer with at most this many characters is not counted. */
const FREE_CHARACTERS = 64 * 1024;

/**
 * How long the memory of an answer is counted if the client does not take it, in milliseconds. After that, only the limits of
 * the connection hold.
 */
const MAX_HOLD_MS = 30_000;

/** An answer with long texts. The last holder of the answer calls `release` once, which gives back the memory of the texts. */
export class LongAnswer {
  readonly #parts: readonly (string | LongText)[];

  constructor(parts: readonly (string | LongText)[]) {
    this.#parts = parts;
  }

  /** The bytes of all pieces. */
  get bytes(): number {
    return this.#parts.reduce(
      (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.bytes),
      0,
    );
  }

  /** The size of the parts whose memory is not counted elsewhere: characters of strings, and bytes of long texts. */
  get uncounted(): number {
    return this.#parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : part.uncounted), 0);
  }

  /** Pieces that whoever gets them may keep. */
  *pieces(): Iterable<Uint8Array> {
    for (const piece of this.lentPieces()) yield Buffer.from(piece);
  }

  /**
   * Each piece is valid until the next one is requested, because pieces of long texts are written into the same memory. So only
   * whoever knows when a piece has been used may take these: a stream reports a chunk as written that its reader has not seen yet.
   */
  *lentPieces(): Iterable<Uint8Array> {
    const out = Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (const part of this.#parts) {
      if (typeof part === 'string') yield Buffer.from(part);
      else yield* part.pieces(out);
    }
  }

  /** The same answer with text before and after it. It shares the memory of this one. */
  within(before: string, after: string): LongAnswer {
    return new LongAnswer([before, ...this.#parts, after]);
  }

  release(): void {
    for (const part of this.#parts) if (part instanceof LongText) part.release();
  }
}

/** The JSON message that answers a request. A result that JSON cannot express becomes an internal error. */
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

/** The answer as one string. Gives back the memory of the answer. */
export function wholeText(answer: Answer): string {
  if (typeof answer === 'string') return answer;
  const whole = Buffer.allocUnsafe(answer.bytes);
  let at = 0;
  for (const piece of answer.lentPieces()) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  answer.release();
  return whole.toString('utf8');
}

/** Gives back the memory of an outcome that is not sent. */
export function drop(id: MessageId, outcome: Outcome): void {
  const answer = answerOf(id, outcome);
  if (typeof answer !== 'string') answer.release();
}

/**
 * Counts the memory of a large answer.
 * @returns stops counting, and gives back the memory; undefined for a small answer, for which there is nothing to do
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
