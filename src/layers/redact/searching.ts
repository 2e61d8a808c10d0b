/**
 * Search where there are secrets. It looks into the contents as they are, and would answer what begins a secret, character
 * by character; so a match in a line with a secret counts only where the line still has it under the mark.
 */
import type { Context } from '../../core/context.ts';
import { ResourceError } from '../../core/errors.ts';
import type { ByteRange, SearchMatch } from '../../core/provider.ts';
import type { LineTest } from '../../core/search.ts';
import type { Inspected } from './bodies.ts';
import { within } from './mask.ts';

/** Bytes before and behind the beginning of a match in which its line is looked for. */
const REACH_BYTES = 8 * 1024;

const NEWLINE = 10;

export type InspectRange = (uri: string, range: ByteRange, ctx: Context) => Promise<Inspected | undefined>;

/** Whether a match may be told of. @param test undefined where nothing with a secret in it is given */
export async function mayTell(
  { uri, place }: SearchMatch,
  inspectRange: InspectRange,
  test: LineTest | undefined,
  ctx: Context,
): Promise<boolean> {
  if (place === undefined) return true;
  const from = Math.max(0, place.offset - REACH_BYTES);
  const part = await inspectRange(uri, { offset: from, length: place.offset - from + REACH_BYTES }, ctx).catch(
    (error: unknown) => {
      // What cannot be looked through is not told of either, like what is gone by now.
      if (error instanceof ResourceError && !error.retryable && error.code !== 'internal') return undefined;
      throw error;
    },
  );
  if (part === undefined) return false;
  const at = place.offset - part.offset;
  if (at > part.bytes.byteLength) return false;
  const start = at === 0 ? 0 : part.bytes.lastIndexOf(NEWLINE, at - 1) + 1;
  const newline = part.bytes.indexOf(NEWLINE, at);
  const end = newline === -1 ? part.bytes.byteLength : newline;
  if (within(part.findings, start, Math.max(end, at + 1)).length === 0) return true;
  if (test === undefined) return false;
  const line = Buffer.from(part.bytes.subarray(start, end)).toString('utf8').replace(/\r$/, '');
  return test(line) !== -1;
}
