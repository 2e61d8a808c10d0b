/** Cuts lines out of a streamed text, and stops reading after the last one. */
import { chunksOf, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';
import type { LineRange } from './line-uri.ts';

const NEWLINE = 10;

/**
 * Returns the bytes of the lines, including line ends, and their position.
 * @throws ResourceError `invalid` past the end of the text, `too-large` over `maxBytes`
 */
export async function cutLines(
  body: ResourceBody,
  { first, last }: LineRange,
  maxBytes: number,
  ctx: Context,
): Promise<{ readonly bytes: Buffer; readonly offset: number }> {
  const parts: Uint8Array[] = [];
  let line = 1;
  let at = 0;
  let kept = 0;
  let offset: number | undefined;
  for await (const chunk of chunksOf(body.content)) {
    ctx.signal.throwIfAborted();
    let start = 0;
    while (start < chunk.byteLength && line <= last) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.byteLength : newline + 1;
      if (line >= first) {
        offset ??= at + start;
        kept += end - start;
        if (kept > maxBytes) throw tooLarge(body, maxBytes);
        parts.push(chunk.subarray(start, end));
      }
      if (newline !== -1) line++;
      start = end;
    }
    at += chunk.byteLength;
    if (line > last) break;
  }
  if (offset === undefined) throw invalid(`The text ends before line ${first}`, body.resource.uri);
  return { bytes: Buffer.concat(parts, kept), offset };
}

function tooLarge({ resource }: ResourceBody, limit: number): ResourceError {
  return new ResourceError('too-large', `The lines are larger than ${limit} bytes; ask for fewer, or read a window`, {
    uri: resource.uri,
    details: { limit },
  });
}
