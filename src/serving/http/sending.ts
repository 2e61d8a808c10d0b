/** Answers that have been made and not been sent yet: their memory counts until they are (RES-7). */
import type { ServerResponse } from 'node:http';
import type { Admission } from '../../core/admission.ts';

/** Characters of an answer that do not count. */
const FREE_CHARACTERS = 64 * 1024;

/** Of a client that does not take its answer, in milliseconds: after that it is the connection's business. */
const MAX_HOLD_MS = 30_000;

/**
 * What Node sends the answer with. A request of another server has none, and its answer counts until it is made. It is
 * kept on the request itself: what a weak map that lasts holds is kept until a major garbage collection.
 */
const RESPONSE = Symbol('response');

interface Answered extends Request {
  [RESPONSE]?: ServerResponse;
}

export function willAnswer(request: Request, response: ServerResponse): void {
  (request as Answered)[RESPONSE] = response;
}

/** Counts a large result as held in memory until its response has been sent, or its client is gone. */
export function holdUntilSent(admission: Admission, request: Request | undefined, result: object): void {
  const characters = lengthOf(result);
  if (characters <= FREE_CHARACTERS || request === undefined) return;
  const response = (request as Answered)[RESPONSE];
  if (response === undefined || response.closed) return;
  const release = admission.answer(characters);
  const timer = setTimeout(release, MAX_HOLD_MS).unref();
  response.once('close', () => {
    clearTimeout(timer);
    release();
  });
}

interface Item {
  readonly text?: unknown;
  readonly blob?: unknown;
  readonly data?: unknown;
}

/** Characters of the contents of a read, or of the content of a tool. */
function lengthOf(result: object): number {
  const { contents, content } = result as { readonly contents?: unknown; readonly content?: unknown };
  const items = contents ?? content;
  if (!Array.isArray(items)) return 0;
  let sum = 0;
  for (const item of items as readonly Item[]) {
    for (const part of [item?.text, item?.blob, item?.data]) if (typeof part === 'string') sum += part.length;
  }
  return sum;
}
