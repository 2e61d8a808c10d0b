/**
 * A place in a text: `#L12` or `#L12-L20` behind a URI, as search gives it. The lines are cut out while the text streams
 * by, and reading stops behind the last one.
 */
import { chunksOf, type ResourceBody } from '../../core/body.ts';
import type { Context } from '../../core/context.ts';
import { invalid, ResourceError } from '../../core/errors.ts';

export interface LineRange {
  /** From 1. */
  readonly first: number;
  /** Included. */
  readonly last: number;
}

const FRAGMENT = /^(?<resource>[^#]*)#L(?<first>[1-9]\d{0,9})(?:-L?(?<last>[1-9]\d{0,9}))?$/s;

/** The resource and the lines of a URI; any other fragment stays a part of the URI. */
export function splitLines(uri: string): { readonly resource: string; readonly lines?: LineRange } {
  const groups = FRAGMENT.exec(uri)?.groups;
  if (groups === undefined) return { resource: uri };
  const first = Number(groups.first);
  const last = groups.last === undefined ? first : Number(groups.last);
  if (last < first) throw invalid('The last line is before the first', uri);
  return { resource: groups.resource ?? '', lines: { first, last } };
}

/** The URI of lines of a resource. */
export function lineUri(uri: string, { first, last }: LineRange): string {
  return first === last ? `${uri}#L${first}` : `${uri}#L${first}-L${last}`;
}

const NEWLINE = 10;

/**
 * The bytes of the lines, with their ends, and where they begin.
 * @throws ResourceError `invalid` behind the end of the text, `too-large` over `maxBytes`
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
