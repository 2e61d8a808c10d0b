/** Reads the content of files: small ones through the shared process, each large one through its own. */
import type { BodyContent } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid } from '../../core/errors.ts';
import type { ByteRange } from '../../core/provider.ts';
import { gitFailed, runGit } from './command.ts';
import type { Repository } from './find.ts';

/** Files up to this size are read at once, so that a slow reader does not block the shared process. */
export const SMALL_BYTES = 256 * 1024;

export interface BlobContent {
  readonly content: BodyContent;
  /** Bytes of the whole file. */
  readonly total: number;
}

/**
 * Opens the content of a file, or a window of it.
 * @param total bytes of the whole file; undefined if the repository lacks the file
 * @throws ResourceError `unavailable` if the repository lacks the file, `invalid` for a window past the end
 */
export async function readBlob(
  repo: Repository,
  oid: string,
  total: number | undefined,
  range: ByteRange | undefined,
  uri: string,
  ctx: Context,
): Promise<BlobContent> {
  if (total === undefined) throw gitFailed('an object is missing');
  const { offset, end } = windowOf(range, total, uri);
  if (total <= SMALL_BYTES) {
    const whole = await repo.objects.content(oid, SMALL_BYTES, ctx.signal);
    if (whole?.type !== 'blob' || whole.bytes === undefined) throw gitFailed('an object is missing');
    return { content: { kind: 'bytes', bytes: whole.bytes.subarray(offset, end) }, total };
  }
  const open = (): AsyncIterable<Uint8Array> => part(repo, oid, offset, end, ctx.signal);
  return { content: { kind: 'stream', size: end - offset, open }, total };
}

/** @throws ResourceError `invalid` for a window past the end */
export function windowOf(
  range: ByteRange | undefined,
  total: number,
  uri: string,
): { readonly offset: number; readonly end: number } {
  const offset = range?.offset ?? 0;
  if (offset > total) throw invalid(`The window begins past the end of the resource, which has ${total} bytes`, uri);
  return { offset, end: range?.length === undefined ? total : Math.min(total, offset + range.length) };
}

/** Yields the bytes of a window, and ends git after the last one. */
async function* part(
  { git }: Repository,
  oid: string,
  offset: number,
  end: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  if (offset >= end) return;
  let at = 0;
  for await (const chunk of runGit(git, ['cat-file', 'blob', oid], { signal })) {
    signal.throwIfAborted();
    const bytes = chunk.subarray(Math.max(0, offset - at), Math.max(0, end - at));
    at += chunk.byteLength;
    if (bytes.byteLength > 0) yield bytes;
    if (at >= end) return;
  }
}
