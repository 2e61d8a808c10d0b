/** Answers that have been made and not been sent yet: their memory counts until they are (RES-7). */
import type { Admission } from '../../core/admission.ts';
import type { Answer } from '../dispatch/answer.ts';

/** Characters of an answer that do not count. */
const FREE_CHARACTERS = 64 * 1024;

/** Of a client that does not take its answer, in milliseconds: after that it is the connection's business. */
const MAX_HOLD_MS = 30_000;

/**
 * Counts a large answer as held in memory, until what is returned is called, which gives back what it lies in as well;
 * undefined for one that does not count.
 */
export function holdAnswer(admission: Admission, answer: Answer): (() => void) | undefined {
  if (typeof answer === 'string') return hold(admission, answer.length);
  const release = hold(admission, answer.uncounted);
  return () => {
    release?.();
    answer.release();
  };
}

function hold(admission: Admission, characters: number): (() => void) | undefined {
  if (characters <= FREE_CHARACTERS) return undefined;
  const release = admission.answer(characters);
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  return () => {
    clearTimeout(timer);
    release();
  };
}
