/** Reads windows: by a `Range` request (RFC 9110 section 14), or out of the whole content if the server ignores `Range`. */
import { type BodyContent, type BodyWindow, bytesOf } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { ByteRange } from '../../core/provider.ts';
import { isPacked, unpacked } from './decode.ts';
import type { Facts } from './facts.ts';
import { faultOfStatus } from './fault.ts';
import type { Opened } from './opened.ts';
import type { WebAnswer } from './send.ts';
import type { Target } from './target.ts';

interface Asking {
  readonly ask: (
    target: Target,
    headers: Readonly<Record<string, string>>,
    ctx: Pick<Context, 'signal'>,
  ) => Promise<WebAnswer>;
  readonly factsIn: (answer: WebAnswer, target: Target) => Facts;
  /** The most bytes of an answer, which may be the whole content. */
  readonly maxBytes: number;
}

const pastEnd = (total: number, uri: string): ResourceError =>
  invalid(`The window begins past the end of the resource, which has ${total} bytes`, uri);

/** Returns a window of a content in memory. @throws ResourceError `invalid` past the end */
export function windowOf(
  bytes: Uint8Array,
  { offset, length }: ByteRange,
  uri: string,
): { readonly content: BodyContent; readonly window: BodyWindow } {
  const total = bytes.byteLength;
  if (offset > total) throw pastEnd(total, uri);
  const end = length === undefined ? total : offset + length;
  return { content: bytesOf(bytes.subarray(offset, end)), window: { offset, total } };
}

/** Requests a window. @throws ResourceError `invalid` past the end */
export async function openWindow(
  { ask, factsIn, maxBytes }: Asking,
  target: Target,
  range: ByteRange,
  ctx: Pick<Context, 'signal'>,
): Promise<Opened> {
  const { uri } = target;
  const { offset, length } = range;
  const last = length === undefined ? '' : String(offset + Math.max(1, length) - 1);
  const answer = await ask(target, { range: `bytes=${offset}-${last}`, 'accept-encoding': 'identity' }, ctx);
  const close = async (): Promise<void> => answer.close();
  const facts = factsIn(answer, target);
  if (answer.status === 416) {
    answer.close();
    const total = totalOf(answer);
    if (total === undefined) throw invalid('The window begins past the end of the resource', uri);
    if (offset !== total) throw pastEnd(total, uri);
    return { facts: { ...facts, size: total }, content: bytesOf(new Uint8Array()), window: { offset, total } };
  }
  if (answer.status === 206) {
    const part = partOf(answer);
    const wanted = length ?? Number.POSITIVE_INFINITY;
    if (part === undefined || part.first !== offset || isPacked(answer)) {
      answer.close();
      throw new ResourceError('unavailable', 'The web server sent another window than it was asked for', { uri });
    }
    const size = Math.min(wanted, part.last - part.first + 1);
    return {
      facts: { ...facts, size: part.total },
      content: { kind: 'stream', size, open: () => cut(answer, { from: 0, length: size, maxBytes, uri }) },
      window: { offset, total: part.total },
      close,
    };
  }
  if (answer.status < 200 || answer.status > 299) {
    answer.close();
    throw faultOfStatus(answer.status, uri, answer.header('retry-after'));
  }
  const total = facts.size;
  if (total !== undefined && offset > total) {
    answer.close();
    throw pastEnd(total, uri);
  }
  const size = total === undefined ? undefined : Math.min(length ?? total, total - offset);
  return {
    facts,
    content: {
      kind: 'stream',
      size,
      open: () => cut(answer, { from: offset, length: size ?? length, maxBytes, uri }),
    },
    window: { offset, total },
    close,
  };
}

interface Cut {
  readonly from: number;
  readonly length: number | undefined;
  readonly maxBytes: number;
  readonly uri: string;
}

/** Yields a part of the content of an answer, and closes the answer at the end of the part. */
async function* cut(answer: WebAnswer, { from, length, maxBytes, uri }: Cut): AsyncIterable<Uint8Array> {
  const end = length === undefined ? Number.POSITIVE_INFINITY : from + length;
  let at = 0;
  if (end > from) {
    for await (const chunk of unpacked(answer, maxBytes, uri)) {
      const part = chunk.subarray(Math.max(0, from - at), Math.max(0, Math.min(chunk.byteLength, end - at)));
      at += chunk.byteLength;
      if (part.byteLength > 0) yield part;
      if (at >= end) return;
    }
    if (at < from) throw pastEnd(at, uri);
    if (length !== undefined && Number.isFinite(end) && at < end && answer.status === 206)
      throw new ResourceError('unavailable', 'The web server sent less than it said', { uri });
  } else answer.close();
}

function partOf(answer: WebAnswer): { first: number; last: number; total: number | undefined } | undefined {
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(answer.header('content-range')?.trim() ?? '');
  if (found === null) return undefined;
  const [first, last] = [Number(found[1]), Number(found[2])];
  const total = found[3] === '*' ? undefined : Number(found[3]);
  return first > last || (total !== undefined && last >= total) ? undefined : { first, last, total };
}

function totalOf(answer: WebAnswer): number | undefined {
  const found = /^bytes \*\/(\d{1,15})$/i.exec(answer.header('content-range')?.trim() ?? '');
  return found === null ? undefined : Number(found[1]);
}
